"""Values in a model file: what it may hold, and how that is checked when it comes back.

    base       what is written, what is read, and the form of all parts
    words      Flag, Whole, Number, Text, Choice: what JSON itself has
    arrays     Array, Either, Labels
    nested     Maybe, Together, Many, Struct, OneOf: parts made of parts
    plain      Plain: parameters as users give them
    learned    the closed list of maps and kernels
    answers    certificates, and what was learned from

Each part writes a value, and reads one that may be a lie: types, ranges, sizes and finite numbers are checked
before anything is made of them.
"""
