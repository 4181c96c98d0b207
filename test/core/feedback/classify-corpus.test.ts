/** Real bounces: the suppressed addresses are exactly the invalid ones. */
import test from '#test'
import { classify } from '#core/feedback/apply/classify.ts'
import type { FeedbackEvent } from '#core/feedback/event.ts'
import { readReport } from '#ingest/report/report.ts'
import { corpus, octetsOf } from '../../ingest/report/report-fixtures.ts'

/** Labels of valid addresses: the sender, the message or a temporary state was refused. */
const neverBad = new Set([
  ...[
    'authfailure',
    'badreputation',
    'blocked',
    'contenterror',
    'exceedlimit',
    'failedstarttls',
    'mailboxfull',
    'mesgtoobig',
    'networkerror',
  ],
  ...[
    'norelaying',
    'notcompliantrfc',
    'onhold',
    'policyviolation',
    'ratelimited',
    'rejected',
    'requireptr',
    'securityerror',
    'spamdetected',
  ],
  ...['speeding', 'suppressed', 'syntaxerror', 'systemerror', 'systemfull', 'toomanyconn', 'virusdetected'],
])

/** Labels that contradict the text of the reply. */
const saysOtherwise: Readonly<Record<string, string>> = {
  'sisimai/lhost-v5sendmail-05.eml': 'Host unknown',
  'sisimai/rfc3464-01.eml': 'User Unknown',
  'sisimai/rhost-nttdocomo-02.eml': 'Unknown user',
}

test('no valid address is suppressed, and nearly all invalid ones are', (t) => {
  let bad = 0
  let found = 0
  const contradicted = new Set<string>()
  for (const { file, kind, expect } of corpus()) {
    if (kind !== 'bounce') continue
    const { events } = readReport(octetsOf(file))
    for (const { accept, hard, reason } of expect) {
      const event = events.find((one) => accept.includes(one.recipient ?? '') || accept.includes(one.originalRecipient ?? ''))
      if (!event || hard === undefined) continue
      const { suppress, category } = classify(event)
      const text = saysOtherwise[file]
      if (suppress && text !== undefined && event.diagnostic?.includes(text)) contradicted.add(file)
      else if (neverBad.has(reason ?? '')) t.false(suppress, `${file}: ${reason ?? ''} classified as ${category}: ${wordsOf(event)}`)
      if (!hard) continue
      bad++
      if (suppress) found++
      else t.log(`${file}: ${reason ?? ''} taken for ${category}: ${wordsOf(event)}`)
    }
  }
  t.log(`${found} of ${bad} invalid addresses`)
  t.deepEqual([...contradicted].toSorted(), Object.keys(saysOtherwise).toSorted())
  t.is(bad, 65)
  t.true(found >= 61)
})

const wordsOf = ({ status, diagnostic }: FeedbackEvent): string => `${status ?? ''} ${diagnostic?.slice(0, 120) ?? ''}`
