#pragma once
#define INT_MAX __INT_MAX__
#define INT_MIN (-__INT_MAX__ - 1)
