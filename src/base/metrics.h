// What is counted while coffer runs.
#pragma once

namespace coffer {

class Metrics {};

}  // namespace coffer
