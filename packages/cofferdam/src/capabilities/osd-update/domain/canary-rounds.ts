/**
 * Lets the rounds begin small: one unit, then at most two, four and so on, so that a change that breaks OSDs breaks few. What
 * a small round takes comes off the next one in line, which by that gets smaller or goes away.
 */
export function withCanary(rounds: readonly (readonly number[])[]): number[][] {
  const ramped: number[][] = []
  let most = 1
  for (const round of rounds) {
    for (let from = 0; from < round.length; most *= 2) {
      ramped.push(round.slice(from, from + most))
      from += most
    }
  }
  return ramped
}

/** The fewest rounds that can hold so many units when they begin small and have at most `perRound`. */
export function fewestWithCanary(units: number, perRound: number): number {
  let rounds = 0
  for (let left = units, most = 1; left > 0; most *= 2) {
    if (most >= perRound) return rounds + Math.ceil(left / perRound)
    left -= most
    rounds += 1
  }
  return rounds
}
