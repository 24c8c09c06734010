// Parallel loops over independent items.
#pragma once

#include <cstddef>
#include <functional>

namespace sotto {

// The number of processors this process may run on (at least 1).
int DefaultJobs();

// Calls body(i) once for every i in [0, n), on `jobs` threads that take the next index as they
// become free. The first exception is rethrown after all threads have stopped; items not yet
// started are then left out, as they are with Cancelled when the run is cancelled
// (base/progress.h). Results must not depend on the order: key randomness by item, never by
// thread.
void ParallelFor(std::size_t n, int jobs, const std::function<void(std::size_t)>& body);

}  // namespace sotto
