// Draws the plots of a report page with d3. Every plot is one SVG whose look is set by attributes
// alone, so that the file one downloads looks like the page.
"use strict";
(function () {
  // Okabe and Ito's colours, told apart with every common colour blindness; lines also differ in
  // dash and points in shape, for print without colour.
  const colours = ["#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#444444"];
  const dashes = ["", "7 3", "2 3", "9 3 2 3", "4 2", "1 2", ""];
  const shapes = [d3.symbolCircle, d3.symbolTriangle, d3.symbolSquare, d3.symbolDiamond,
                  d3.symbolCross, d3.symbolStar, d3.symbolWye];
  const font = "system-ui, 'DejaVu Sans', sans-serif";
  const ink = "#1a1a1a";
  const textSize = 12;
  const pencil = document.createElement("canvas").getContext("2d");

  function textWidth(text, size) {
    pencil.font = (size || textSize) + "px " + font;
    return pencil.measureText(text).width;
  }

  // Inverse of the normal distribution (Acklam's rational approximation, error below 1.2e-9).
  function probit(p) {
    const a = [-39.69683028665376, 220.9460984245205, -275.9285104469687, 138.357751867269,
               -30.66479806614716, 2.506628277459239];
    const b = [-54.47609879822406, 161.5858368580409, -155.6989798598866, 66.80131188771972,
               -13.28068155288572];
    const c = [-0.007784894002430293, -0.3223964580411365, -2.400758277161838, -2.549732539343734,
               4.374664141464968, 2.938163982698783];
    const d = [0.007784695709041462, 0.3224671290700398, 2.445134137142996, 3.754408661907416];
    if (p < 0.02425) {
      const q = Math.sqrt(-2 * Math.log(p));
      return (((((c[0] * q + c[1]) * q + c[2]) * q + c[3]) * q + c[4]) * q + c[5]) /
             ((((d[0] * q + d[1]) * q + d[2]) * q + d[3]) * q + 1);
    }
    if (p > 1 - 0.02425) return -probit(1 - p);
    const q = p - 0.5, r = q * q;
    return (((((a[0] * r + a[1]) * r + a[2]) * r + a[3]) * r + a[4]) * r + a[5]) * q /
           (((((b[0] * r + b[1]) * r + b[2]) * r + b[3]) * r + b[4]) * r + 1);
  }

  const rates = [0.0001, 0.001, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8,
                 0.9, 0.95, 0.98, 0.99, 0.995, 0.999, 0.9999];

  function percent(value) {
    return +(100 * value).toPrecision(4) + " %";
  }

  // A scale with what an axis needs: place(value), inside(value), ticks, label(tick).
  function makeScale(axis, values, range) {
    let usable = values.filter(v => v !== null && isFinite(v));
    if (axis.scale === "log") usable = usable.filter(v => v > 0);
    if (axis.scale === "probit") usable = usable.filter(v => v > 0 && v < 1);
    let low = axis.low !== undefined ? axis.low : d3.min(usable);
    let high = axis.high !== undefined ? axis.high : d3.max(usable);
    if (low === undefined || high === undefined) { low = 0; high = 1; }
    if (low === high) { low -= 0.5; high += 0.5; }
    if (axis.scale === "probit") {
      const line = d3.scaleLinear().domain([probit(low), probit(high)]).range(range);
      return {
        place: v => line(probit(Math.min(Math.max(v, low), high))),
        inside: v => v >= 0 && v <= 1,  // 0 and 1 lie on the border
        ticks: rates.filter(r => r >= low && r <= high), label: percent
      };
    }
    if (axis.scale === "log") {
      const line = d3.scaleLog().domain([low, high]).range(range);
      // Fixed ticks where given: axes over a list of N or L show that list.
      const ticks = axis.ticks || line.ticks(5).filter(t => /^[125]/.test(t.toExponential()));
      return { place: line, inside: v => v > 0, ticks: ticks,
               label: axis.percent ? percent : d3.format("~g") };
    }
    const line = d3.scaleLinear().domain([low, high]).range(range);
    if (axis.low === undefined || axis.high === undefined) line.nice();
    const count = Math.max(3, Math.round(Math.abs(range[1] - range[0]) / 60));
    return { place: line, inside: v => true, ticks: line.ticks(count),
             label: axis.percent ? percent : line.tickFormat(count) };
  }

  function startSvg(plot, width, height) {
    return d3.create("svg")
        .attr("xmlns", "http://www.w3.org/2000/svg")
        .attr("viewBox", `0 0 ${width} ${height}`).attr("width", width).attr("height", height)
        .attr("font-family", font).attr("font-size", textSize).attr("fill", ink)
        .attr("role", "img").attr("aria-label", plot.title);
  }

  function look(plot, index) {
    const series = plot.series[index];
    if (series.mark === "reference") return { colour: "#555555", dash: "5 4", shape: shapes[0] };
    const rank = plot.series.slice(0, index).filter(s => s.mark !== "reference").length;
    // After the last colour they begin again with other dashes and shapes.
    const other = rank + 2 * Math.floor(rank / colours.length);
    return { colour: colours[rank % colours.length], dash: dashes[other % dashes.length],
             shape: shapes[other % shapes.length] };
  }

  // Entries flow into as many rows as the width asks for; gives the height used.
  function drawLegend(svg, plot, width) {
    if (plot.series.length < 2) return 6;
    let x = 4, y = 12;
    plot.series.forEach((series, index) => {
      const style = look(plot, index);
      const needed = 26 + textWidth(series.name) + 14;
      if (x > 4 && x + needed > width) { x = 4; y += 18; }
      const entry = svg.append("g").attr("transform", `translate(${x},${y})`);
      if (series.mark === "points") {
        entry.append("path").attr("d", d3.symbol().type(style.shape).size(48)())
            .attr("transform", "translate(10,0)").attr("fill", style.colour);
      } else {
        entry.append("line").attr("x2", 20).attr("stroke", style.colour).attr("stroke-width", 2)
            .attr("stroke-dasharray", style.dash);
      }
      entry.append("text").attr("x", 26).attr("dy", "0.35em").text(series.name);
      x += needed;
    });
    return y + 14;
  }

  // Where a name may stand, nearest first: beside the point, then around it in growing circles.
  function labelPlaces(w) {
    const places = [[8, 0], [-8 - w, 0], [-w / 2, -13], [-w / 2, 13]];
    for (const radius of [18, 30, 44, 60, 80]) {
      for (let k = 0; k < 12; ++k) {
        const angle = Math.PI * k / 6, dx = radius * Math.cos(angle);
        places.push([dx + (dx < -1 ? -w : dx > 1 ? 0 : -w / 2), radius * Math.sin(angle)]);
      }
    }
    return places;
  }

  // Names of points, each at the first place that covers nothing; a thin line leads to far ones.
  // `bars` are boxes around intervals.
  function drawLabels(svg, points, area, bars) {
    const taken = points.map(p => ({ x0: p.x - 5, x1: p.x + 5, y0: p.y - 5, y1: p.y + 5 }))
        .concat(bars);
    const overlaps = box => taken.some(
        t => box.x0 < t.x1 && box.x1 > t.x0 && box.y0 < t.y1 && box.y1 > t.y0);
    points.filter(p => p.label).forEach(point => {
      const shown = point.label.length > 24 ? point.label.slice(0, 23) + "…" : point.label;
      const w = textWidth(shown, 11);
      for (const [dx, dy] of labelPlaces(w)) {
        const box = { x0: point.x + dx - 1, x1: point.x + dx + w + 1,
                      y0: point.y + dy - 7, y1: point.y + dy + 7 };
        if (box.x0 < area.x0 || box.x1 > area.x1 || box.y0 < area.y0 || box.y1 > area.y1 ||
            overlaps(box)) continue;
        taken.push(box);
        const x = Math.min(Math.max(point.x, box.x0), box.x1);
        const y = Math.min(Math.max(point.y, box.y0), box.y1);
        if (Math.hypot(x - point.x, y - point.y) > 9) {
          svg.append("line").attr("x1", point.x).attr("y1", point.y).attr("x2", x).attr("y2", y)
              .attr("stroke", "#777777").attr("stroke-width", 0.8);
        }
        svg.append("text").attr("x", point.x + dx).attr("y", point.y + dy).attr("dy", "0.35em")
            .attr("font-size", 11).text(shown);
        break;
      }
    });
  }

  // Intervals of points: bars with short ends. Gives the boxes they cover.
  function drawBars(svg, series, xScale, yScale, colour) {
    const boxes = [];
    const line = (x1, y1, x2, y2) => {
      svg.append("line").attr("x1", x1).attr("y1", y1).attr("x2", x2).attr("y2", y2)
          .attr("stroke", colour).attr("stroke-width", 1.5).attr("stroke-opacity", 0.7);
      boxes.push({ x0: Math.min(x1, x2) - 1, x1: Math.max(x1, x2) + 1,
                   y0: Math.min(y1, y2) - 1, y1: Math.max(y1, y2) + 1 });
    };
    const known = v => v !== null && v !== undefined;
    series.x.forEach((x, i) => {
      const y = series.y[i];
      if (x === null || y === null) return;
      const px = xScale.place(x), py = yScale.place(y);
      const low = (series.y_low || [])[i], high = (series.y_high || [])[i];
      if (known(low) && known(high)) {
        const a = yScale.place(low), b = yScale.place(high);
        line(px, a, px, b);
        [a, b].forEach(end => line(px - 4, end, px + 4, end));
      }
      const left = (series.x_low || [])[i], right = (series.x_high || [])[i];
      if (known(left) && known(right)) {
        const a = xScale.place(left), b = xScale.place(right);
        line(a, py, b, py);
        [a, b].forEach(end => line(end, py - 4, end, py + 4));
      }
    });
    return boxes;
  }

  // A size at which the text fits into `room`, not below 9.
  function fitSize(text, room) {
    return Math.max(9, Math.min(textSize, textSize * room / textWidth(text)));
  }

  function drawAxis(svg, scale, side, area, label) {
    const g = svg.append("g");
    let last = -Infinity;
    scale.ticks.forEach(tick => {
      const at = scale.place(tick), text = scale.label(tick);
      if (!isFinite(at) || text === "") return;
      if (side === "bottom") {
        const half = textWidth(text, 11) / 2;
        g.append("line").attr("x1", at).attr("x2", at).attr("y1", area.y0).attr("y2", area.y1)
            .attr("stroke", "#dddddd");
        if (at - half < last + 6) return;  // no room: the line stays, the number goes
        last = at + half;
        g.append("text").attr("x", at).attr("y", area.y1 + 16).attr("text-anchor", "middle")
            .attr("font-size", 11).text(text);
      } else {
        g.append("line").attr("y1", at).attr("y2", at).attr("x1", area.x0).attr("x2", area.x1)
            .attr("stroke", "#dddddd");
        if (isFinite(last) && Math.abs(last - at) < 13) return;
        last = at;
        g.append("text").attr("x", area.x0 - 6).attr("y", at).attr("dy", "0.35em")
            .attr("text-anchor", "end").attr("font-size", 11).text(text);
      }
    });
    if (side === "bottom") {
      g.append("text").attr("x", (area.x0 + area.x1) / 2).attr("y", area.y1 + 36)
          .attr("font-size", fitSize(label, area.x1 - area.x0 + 12))
          .attr("text-anchor", "middle").text(label);
    } else {
      g.append("text").attr("transform", `translate(13,${(area.y0 + area.y1) / 2}) rotate(-90)`)
          .attr("font-size", fitSize(label, area.y1 - area.y0))
          .attr("text-anchor", "middle").text(label);
    }
  }

  function drawXy(plot, width) {
    const height = Math.round(Math.min(400, Math.max(290, width * 0.68)));
    const svg = startSvg(plot, width, height);
    const top = drawLegend(svg, plot, width);
    const all = axis => [].concat(...plot.series.map(
        s => s[axis].concat(s[axis + "_low"] || [], s[axis + "_high"] || [])));
    const yScale = makeScale(plot.y, all("y"), [height - 46, top + 6]);
    const left = 30 + d3.max(yScale.ticks.map(t => textWidth(yScale.label(t), 11)).concat(20));
    const area = { x0: left, x1: width - 14, y0: top + 6, y1: height - 46 };
    const xScale = makeScale(plot.x, all("x"), [area.x0, area.x1]);
    drawAxis(svg, xScale, "bottom", area, plot.x.label);
    drawAxis(svg, yScale, "left", area, plot.y.label);
    svg.append("rect").attr("x", area.x0).attr("y", area.y0).attr("width", area.x1 - area.x0)
        .attr("height", area.y1 - area.y0).attr("fill", "none").attr("stroke", "#888888");
    const named = [], bars = [];
    plot.series.forEach((series, index) => {
      const style = look(plot, index);
      const points = series.x.map((x, i) => [x, series.y[i], (series.labels || [])[i] || "",
                                             (series.hints || [])[i] || ""]);
      const fine = p => p[0] !== null && p[1] !== null && xScale.inside(p[0]) &&
                        yScale.inside(p[1]);
      const px = p => xScale.place(p[0]), py = p => yScale.place(p[1]);
      if (series.mark === "points") {
        bars.push(...drawBars(svg, series, xScale, yScale, style.colour));
        points.filter(fine).forEach(p => {
          svg.append("path").attr("d", d3.symbol().type(style.shape).size(42)())
              .attr("transform", `translate(${px(p)},${py(p)})`).attr("fill", style.colour)
              .attr("fill-opacity", 0.8)
              .append("title").text((p[2] || p[3]) + ` (${p[0].toPrecision(4)}, ${p[1].toPrecision(4)})`);
          named.push({ x: px(p), y: py(p), label: p[2] });
        });
        return;
      }
      const curve = series.mark === "steps" ? d3.curveStepAfter : d3.curveLinear;
      if (series.mark === "steps") {
        svg.append("path").attr("fill", style.colour).attr("fill-opacity", 0.18)
            .attr("d", d3.area().defined(fine).curve(curve).x(px).y0(area.y1).y1(py)(points));
      }
      svg.append("path").attr("fill", "none").attr("stroke", style.colour)
          .attr("stroke-width", series.mark === "reference" ? 1.5 : 2)
          .attr("stroke-dasharray", style.dash).attr("stroke-linejoin", "round")
          .attr("d", d3.line().defined(fine).curve(curve).x(px).y(py)(points));
      if (series.mark === "marked") {
        points.filter(fine).forEach(p => svg.append("path")
            .attr("d", d3.symbol().type(style.shape).size(36)())
            .attr("transform", `translate(${px(p)},${py(p)})`).attr("fill", style.colour)
            .append("title").text(`${series.name} (${p[0].toPrecision(4)}, ${p[1].toPrecision(4)})`));
      }
    });
    drawLabels(svg, named, area, bars);
    return svg.node();
  }

  function drawMatrices(plot, width) {
    const columns = width >= 640 ? plot.matrices.length : 1;
    const n = plot.matrices[0].names.length;
    const gap = 18, bar = 58;
    const panel = Math.min(Math.floor((width - gap * (columns - 1)) / columns), 420);
    const longest = d3.max(plot.matrices[0].names, name => textWidth(name, 9));
    const cell0 = (panel - Math.min(longest + 6, 90)) / n;
    const showNames = cell0 >= 9.5 && longest <= 84;
    const left = showNames ? longest + 6 : 4, side = panel - left, cell = side / n;
    const panelHeight = 22 + side + (showNames ? longest + 8 : 4);
    const rows = Math.ceil(plot.matrices.length / columns);
    const height = rows * (panelHeight + 8) + bar;
    const svg = startSvg(plot, width, height);
    const colour = d3.scaleSequential(d3.interpolateBlues).domain([0, 1]);
    plot.matrices.forEach((matrix, k) => {
      const x0 = (k % columns) * (panel + gap);
      const y0 = Math.floor(k / columns) * (panelHeight + 8);
      const g = svg.append("g").attr("transform", `translate(${x0 + left},${y0 + 22})`);
      g.append("text").attr("x", 0).attr("y", -8).attr("font-weight", 600).text(matrix.title);
      if (n <= 60) {
        matrix.values.forEach((value, i) => g.append("rect")
            .attr("x", (i % n) * cell).attr("y", Math.floor(i / n) * cell)
            .attr("width", cell + 0.3).attr("height", cell + 0.3).attr("fill", colour(value))
            .append("title")
            .text(`${matrix.names[Math.floor(i / n)]} – ${matrix.names[i % n]}: ${value.toFixed(3)}`));
      } else {
        const canvas = document.createElement("canvas");
        canvas.width = canvas.height = n;
        const context = canvas.getContext("2d");
        matrix.values.forEach((value, i) => {
          context.fillStyle = colour(value);
          context.fillRect(i % n, Math.floor(i / n), 1, 1);
        });
        g.append("image").attr("href", canvas.toDataURL()).attr("width", side).attr("height", side)
            .attr("style", "image-rendering: pixelated");
      }
      g.append("rect").attr("width", side).attr("height", side).attr("fill", "none")
          .attr("stroke", "#888888");
      if (showNames) {
        matrix.names.forEach((name, i) => {
          g.append("text").attr("x", -4).attr("y", (i + 0.5) * cell).attr("dy", "0.35em")
              .attr("text-anchor", "end").attr("font-size", 9).text(name);
          g.append("text").attr("transform", `translate(${(i + 0.5) * cell},${side + 5}) rotate(-90)`)
              .attr("dy", "0.35em").attr("text-anchor", "end").attr("font-size", 9).text(name);
        });
      }
    });
    const barWidth = Math.min(260, width - 20);
    const key = svg.append("g").attr("transform", `translate(4,${height - bar + 14})`);
    d3.range(60).forEach(i => key.append("rect").attr("x", i * barWidth / 60)
        .attr("width", barWidth / 60 + 0.5).attr("height", 10).attr("fill", colour((i + 0.5) / 60)));
    key.append("rect").attr("width", barWidth).attr("height", 10).attr("fill", "none")
        .attr("stroke", "#888888");
    [0, 0.5, 1].forEach(t => key.append("text").attr("x", t * barWidth).attr("y", 24)
        .attr("text-anchor", t === 0 ? "start" : t === 1 ? "end" : "middle")
        .attr("font-size", 11).text(t));
    key.append("text").attr("y", 40).attr("font-size", 11).text(plot.y.label);
    return svg.node();
  }

  // Spreadsheets run text that begins so as a formula; an apostrophe makes it text again. Numbers
  // stay numbers.
  function csvField(value) {
    let text = value === null || value === undefined ? "" : String(value);
    const formula = /^[=+\-@\t\r][^]/.test(text);
    const number = typeof value === "number" ||
                   /^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i.test(text);
    if (formula && !number) text = "'" + text;
    return /[",\n\r]/.test(text) ? '"' + text.replace(/"/g, '""') + '"' : text;
  }

  function toCsv(plot) {
    const lines = [];
    const add = fields => lines.push(fields.map(csvField).join(","));
    if (plot.matrices.length) {
      add(["matrix", "row", "column", "value"]);
      plot.matrices.forEach(m => m.values.forEach((value, i) =>
        add([m.title, m.names[Math.floor(i / m.names.length)], m.names[i % m.names.length], value])));
    } else {
      const bars = plot.series.some(s => s.x_low || s.y_low);
      const ends = s => bars ? ["x_low", "x_high", "y_low", "y_high"].map(k => s(k)) : [];
      add(["series", plot.x.label, plot.y.label, "name"].concat(ends(k => k)));
      plot.series.forEach(s => s.x.forEach((x, i) =>
        add([s.name, x, s.y[i], (s.hints || [])[i] || (s.labels || [])[i]].concat(
            ends(k => (s[k] || [])[i])))));
    }
    return lines.join("\r\n") + "\r\n";
  }

  function save(name, type, text) {
    const link = document.createElement("a");
    link.href = URL.createObjectURL(new Blob([text], { type: type }));
    link.download = name;
    document.body.appendChild(link);
    link.click();
    link.remove();
    setTimeout(() => URL.revokeObjectURL(link.href), 1000);
  }

  function draw(plot, forced) {
    const figure = document.getElementById(plot.id);
    const canvas = figure.querySelector(".canvas");
    const width = forced || Math.max(260, Math.floor(canvas.clientWidth));
    if (canvas.dataset.width === String(width)) return;
    canvas.dataset.width = width;
    canvas.replaceChildren(plot.matrices.length ? drawMatrices(plot, width) : drawXy(plot, width));
  }

  const data = JSON.parse(document.getElementById("sotto-data").textContent);
  const drawAll = () => data.plots.forEach(plot => draw(plot));
  data.plots.forEach(plot => {
    const figure = document.getElementById(plot.id);
    figure.querySelector(".save-svg").addEventListener("click", () =>
      save(plot.id + ".svg", "image/svg+xml",
           new XMLSerializer().serializeToString(figure.querySelector("svg"))));
    figure.querySelector(".save-csv").addEventListener("click", () =>
      save(plot.id + ".csv", "text/csv", toCsv(plot)));
  });
  drawAll();
  window.addEventListener("resize", drawAll);
  // Two columns on A4: drawn anew, so that the text keeps its size.
  window.addEventListener("beforeprint", () =>
    data.plots.forEach(plot => draw(plot, plot.matrices.length ? 700 : 340)));
  window.addEventListener("afterprint", drawAll);
  document.documentElement.dataset.drawn = data.plots.length;
})();
