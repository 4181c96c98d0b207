/** Divides a whole number by weights, in whole numbers that add up to it: by largest remainder, the first of those that are equal. Pure. */

/** One share for each weight, none larger than its weight where the total is no larger than all of them. Weights are not all 0. */
export function sharesOf(total: number, weights: readonly number[]): number[] {
  const all = weights.reduce((sum, weight) => sum + BigInt(weight), 0n)
  const parts = weights.map((weight, at) => {
    const product = BigInt(total) * BigInt(weight)
    return { at, share: Number(product / all), remainder: product % all }
  })
  let left = total - parts.reduce((sum, { share }) => sum + share, 0)
  for (const part of parts.toSorted((a, b) => Number(b.remainder - a.remainder) || a.at - b.at)) {
    if (left-- <= 0) break
    part.share++
  }
  return parts.map(({ share }) => share)
}
