# How the metrics of an HPCToolkit database are shown: the form of metrics/default.yaml.
#
# meta.db, profile.db and cct.db hold raw metrics, propagated in scopes, and statistics of them over threads (see FORMATS.md). A
# file of this form, a taxonomy, says what a viewer makes of these: which columns there are, what they are called, how they are
# ordered into a tree, and how each is computed. A database may have several; default.yaml is the one viewers open.
#
# This file is itself a taxonomy, of three metrics, with a comment for each key. It uses all that the form allows; where known
# readers take less, that is said. Keys that are not described here are to be skipped.

# The version of the form. A reader that knows only smaller ones should refuse the file. Default: 0.
version: 0

# The statistics of meta.db that formulas use, each with an anchor to call it by. A reader finds the one summary of meta.db
# that has all four values. hpcviewer wants all four keys in each item, and fails when meta.db has no such summary.
inputs:
  - &time-incl
    # The metric's name in meta.db.
    metric: CPUTIME (sec)
    # The propagation scope: execution sums up all that was called, function what was done in the function itself, lex_aware
    # the same but for loops inside loops, point only what was measured right there.
    scope: execution
    # What is taken of each thread's value, which is called $$: the value itself, its square ($$^2), or 1 to count threads.
    # Written without blanks and needless parentheses. Default: $$.
    formula: $$
    # How the threads' values become one: sum, min or max. Default: sum.
    combine: sum
  # A merge key takes over what is the same; hpcviewer wants the keys written out instead.
  - &time-excl
    <<: *time-incl
    scope: function
  - &time-loops
    <<: *time-incl
    scope: lex_aware
  - &threads-incl
    <<: *time-incl
    formula: 1
  - &threads-excl
    <<: *time-excl
    formula: 1
  - &cycles-incl
    metric: cycles
    scope: execution
    formula: $$
    combine: sum
  - &cycles-excl
    <<: *cycles-incl
    scope: function

# The metrics, as a tree.
roots:
  - # What the metric is called. Required.
    name: Time
    # What it means, in Markdown. Default: the short description.
    description: Time that threads were running on a CPU.
    # The same in few words. Default: the description, up to its first full stop or end of line.
    short description: Time on CPUs
    # Whether a viewer shows it before it is asked for. Default: true.
    visible by default: true
    # How a root is shown: "column", in a table with a column for each metric. Default: column.
    presentation: column

    # The ways to make one number of what threads had, by name. A viewer shows a column for each; hatchet looks for "Sum".
    variants:
      Sum:
        # What is drawn in a cell, one word or a list of words:
        #   number    the value, by the format below
        #   percent   the value in percent of the inclusive value of the whole execution; needs an inclusive formula
        #   colorbar  a bar of the children's shares; what they leave is grey
        #   hidden    a sign that there is more in the children
        # Older descriptions of this form say percentage for percent; no writer does.
        render: [number, percent]
        # How a number is printed: a format of printf for one double, among e E f F g G a A, with text around it. May stand in
        # the metric too, for all variants. Default: %.2e.
        format: '%.3f'
        # Which variant of the children goes with this one: a name, or a list with a name for each child. Default: the same.
        child variant: Sum
        # Where the value comes from: "first" takes the first child's, "sum" adds up the children's, and a map has formulas for
        # inclusive and exclusive values.
        formula:
          # Of the context with all that was called. Default: no value.
          inclusive:
            # A formula that uses nothing but scopes whose meaning is known: point, function, execution. Used where values
            # are added up over contexts, as in views from the callee's side. Default: no value.
            standard: *time-incl
          # Of the context itself.
          exclusive:
            # A formula for the view from the caller's side, where any scope will do. Default: the standard one.
            custom: *time-loops
            standard: *time-excl
      Mean:
        render: number
        formula:
          # A formula is
          #   - an alias of an input, whose value it is
          #   - a number
          #   - a map of one operator or function to the list of its arguments. This is how HPCToolkit writes formulas, with at most
          #     two arguments
          #   - a list of operands and operators, read as in C, where a list inside is a pair of parentheses, and where neighbours
          #     that are no aliases may share an element: [2 *, *x]. hpcviewer fails on such lists.
          #
          # Operators, later ones binding more tightly: + -, then * /, then ^ (the power; from right to left). As the key of a
          # map they are quoted. Functions: sum and prod of any number of arguments, min and max too, pow of two, sqrt of one,
          # log of one (natural) or two (the second is the base), floor, ceil, and "strict floor" and "strict ceil", which
          # are never equal to their argument.
          #
          # A formula without map of custom and standard is both.
          inclusive: {'/': [*time-incl, *threads-incl]}
          exclusive: [*time-excl, /, *threads-excl]

    # Metrics below this one, of the same form. Default: none.
    children:
      - name: Cycles
        description: Cycles of the CPUs meanwhile.
        visible by default: false
        variants:
          Sum:
            render: [number, percent]
            formula:
              inclusive: *cycles-incl
              exclusive: *cycles-excl

  # A heading: a metric whose values are its children's.
  - name: Speed
    description: How fast the CPUs ran.
    variants:
      Sum:
        render: hidden
        formula: first
    children:
      - name: Frequency (GHz)
        description: Cycles in a second of CPU time.
        variants:
          Sum:
            render: number
            format: '%.2f'
            formula:
              inclusive: {'/': [{'/': [*cycles-incl, *time-incl]}, 1.0e+9]}
              exclusive: {'/': [{'/': [*cycles-excl, *time-excl]}, 1.0e+9]}
