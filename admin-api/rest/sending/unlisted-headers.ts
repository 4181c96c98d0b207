/** Answers to links in mail and to shared links. */

/** Headers of what nobody should find, keep, or learn the origin of. */
export const unlisted = { 'cache-control': 'no-store', 'x-robots-tag': 'noindex, nofollow', 'referrer-policy': 'no-referrer' }
