// page_pool.hpp - the part of graphlode.cuda._driver that manages pages.
#pragma once
#include <nanobind/nanobind.h>

namespace graphlode::bind {

void bind_page_pool(nanobind::module_& m);

}  // namespace graphlode::bind
