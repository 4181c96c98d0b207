/** Responses to links in mail and to shared links. */

/** Headers of what should not be found, kept, or traced to its origin. */
export const unlisted = { 'cache-control': 'no-store', 'x-robots-tag': 'noindex, nofollow', 'referrer-policy': 'no-referrer' }
