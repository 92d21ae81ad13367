// What a submission has to say: the vocabularies, and what each connector requires.
#pragma once

#include "api/pipeline/route.h"

namespace coffer::api {

std::vector<Route> payment_terms_routes();

}  // namespace coffer::api
