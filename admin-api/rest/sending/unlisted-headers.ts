/** Headers of responses to links in mail and to share links. */

/** Prevents indexing, caching and referrers. */
export const unlisted = { 'cache-control': 'no-store', 'x-robots-tag': 'noindex, nofollow', 'referrer-policy': 'no-referrer' }
