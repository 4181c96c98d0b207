/** Recognizes unreachable servers and expired mail from the text of the reporting program. */

/** Length of the searched prefix. Notices describe the failure at their beginning. */
const maxSaid = 32 * 1024

/** Delivery attempts ended because the time limit was reached. */
const expired = new RegExp(
  [
    'giving up|unreachable for too long|too long in the queue|been in the queue too long|retry time(?:out)? (?:not reached|exceeded)|message (?:has )?expired|delivery time (?:limit )?(?:expired|exceeded)|retry timeout|was aborted after|cannot send message for|could not deliver for the last|undeliverable for \\d|queue lifetime',
    'failing for a long time|(?:envelope|queue)[ .]expired|exceed(?:ed|s)? (?:the )?max(?:imum)? (?:delivery|retry|queue) (?:attempts|time|lifetime)|(?:retried|retrying) (?:for )?too long',
    'failed (?:after )?\\d{1,4} (?:delivery )?attempts|too many (?:failed )?(?:delivery )?(?:attempts|retries)|(?:attempts|retries|retry limit) (?:was |were |have been |has been )?(?:exhausted|exceeded|used up)|max(?:imum)? (?:number of )?(?:delivery )?(?:attempts|retries) (?:reached|exceeded)',
  ].join('|'),
  'iu',
)

/** RFC 3463 §3.5, `X.4.1`: no answer from host. */
const noAnswer =
  /connection (?:was )?refused|connection timed? ?out(?! during| while| after)|operation timed out|no route to host|network (?:is )?unreachable|host (?:is )?(?:unreachable|down)|(?:host|server) (?:is )?not (?:reachable|responding|answering)|(?:could ?n[o']t|cannot|can't|unable to|failed to) connect\b|(?:did|does) ?n[o']t (?:respond|answer)\b|no answer from/iu
/** RFC 3463 §3.5, `X.4.2`: bad connection. */
const brokenConnection =
  /lost connection|connection (?:was |has been )?(?:reset|closed|dropped|broken|lost|aborted)|broken pipe|connection timed? ?out (?:during|while|after)|timed out (?:during|while|waiting)|conversation with .{1,200} timed out/iu

export const reportsExpiry = (text: string): boolean => expired.test(text.slice(0, maxSaid))

/** The status of mail that no server accepted or refused (RFC 3463 §3.5); null if the text does not match. */
export function unreachedStatus(text: string, isDelay: boolean): string | null {
  const start = text.slice(0, maxSaid)
  if (!isDelay && expired.test(start)) return '4.4.7'
  if (noAnswer.test(start)) return '4.4.1'
  return brokenConnection.test(start) ? '4.4.2' : null
}
