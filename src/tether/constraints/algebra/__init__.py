"""The linear algebra behind the sets: what a matrix A does to vectors, whatever form A has.

A set asks four things of the rows of A (`rows`): the tangent part of a direction, multipliers, the shortest
solution of A x = b, and the products with A. There is one answer for each form of A:

- `dense`: one orthogonal factorisation, then two products a projection;
- `sparse`: a sparse factorisation of A A^T (`factor`), or conjugate gradients (`conjugate`) where that would
  fill in, either of them repeated until only rounding is left (`refined`);
- `operator`: the same with nothing but products at hand;
- `placed`: any of these among variables in another order.

`consistency` refuses A x = b without a solution and names the rows.
"""
