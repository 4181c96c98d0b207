/**
 * Divides a whole number by weights into whole numbers with the same sum. Uses the largest remainder method; of equal remainders, the first
 * gets the unit. Pure.
 */

/**
 * Returns one share for each weight. If `total` is at most the sum of weights, no share exceeds its weight. At least one weight must not be
 * 0.
 */
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
