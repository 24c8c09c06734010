// Files built into the program (see cmake/SottoEmbed.cmake).
#pragma once

#include <string_view>

namespace sotto {

extern const std::string_view kEmbeddedD3;         // d3.min.js of the package node-d3
extern const std::string_view kEmbeddedD3Licence;  // web/d3_licence.txt
extern const std::string_view kEmbeddedReportJs;   // web/report.js
extern const std::string_view kEmbeddedReportCss;  // web/report.css

}  // namespace sotto
