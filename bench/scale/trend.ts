/** The line through evenly spaced figures that misses them least. */
export function trendOf(figures: readonly number[]): { readonly perStep: number; readonly mean: number } {
  const middle = (figures.length - 1) / 2
  const mean = figures.reduce((sum, each) => sum + each, 0) / figures.length
  let [together, squares] = [0, 0]
  for (const [at, figure] of figures.entries()) {
    together += (at - middle) * (figure - mean)
    squares += (at - middle) ** 2
  }
  return { perStep: squares === 0 ? 0 : together / squares, mean }
}
