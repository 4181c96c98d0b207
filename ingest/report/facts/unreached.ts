/** Servers that were never reached, and mail that was tried for too long, by the words of the program that gave up. */

/** Notices begin with what happened. */
const maxSaid = 32 * 1024

/** It was tried for too long. */
const expiredWords = new RegExp(
  [
    'giving up|unreachable for too long|too long in the queue|been in the queue too long|retry time(?:out)? (?:not reached|exceeded)|message (?:has )?expired|delivery time (?:limit )?(?:expired|exceeded)|retry timeout|was aborted after|cannot send message for|could not deliver for the last|undeliverable for \\d|queue lifetime',
    'failing for a long time|(?:envelope|queue)[ .]expired|exceed(?:ed|s)? (?:the )?max(?:imum)? (?:delivery|retry|queue) (?:attempts|time|lifetime)|(?:retried|retrying) (?:for )?too long',
    'failed (?:after )?\\d{1,4} (?:delivery )?attempts|too many (?:failed )?(?:delivery )?(?:attempts|retries)|(?:attempts|retries|retry limit) (?:was |were |have been |has been )?(?:exhausted|exceeded|used up)|max(?:imum)? (?:number of )?(?:delivery )?(?:attempts|retries) (?:reached|exceeded)',
  ].join('|'),
  'iu',
)

/** RFC 3463 §3.5, `X.4.1`: nothing answered. */
const noAnswer =
  /connection (?:was )?refused|connection timed? ?out(?! during| while| after)|operation timed out|no route to host|network (?:is )?unreachable|host (?:is )?(?:unreachable|down)|(?:host|server) (?:is )?not (?:reachable|responding|answering)|(?:could ?n[o']t|cannot|can't|unable to|failed to) connect\b|(?:did|does) ?n[o']t (?:respond|answer)\b|no answer from/iu
/** RFC 3463 §3.5, `X.4.2`: the connection broke. */
const brokenConnection =
  /lost connection|connection (?:was |has been )?(?:reset|closed|dropped|broken|lost|aborted)|broken pipe|connection timed? ?out (?:during|while|after)|timed out (?:during|while|waiting)|conversation with .{1,200} timed out/iu

export const reportsExpiry = (text: string): boolean => expiredWords.test(text.slice(0, maxSaid))

/** The status of a mail that no server took or refused, RFC 3463 §3.5; null when the words do not tell that. */
export function unreachedStatus(text: string, isDelay: boolean): string | null {
  const words = text.slice(0, maxSaid)
  if (!isDelay && expiredWords.test(words)) return '4.4.7'
  if (noAnswer.test(words)) return '4.4.1'
  return brokenConnection.test(words) ? '4.4.2' : null
}
