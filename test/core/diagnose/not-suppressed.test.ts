/** Explains why a recommended suppression was not added automatically. */
import test from '#test'
import { whyNotSuppressed } from '#core/diagnose/bounce/not-suppressed.ts'
import type { TraceReport } from '#core/trace/trace-report.ts'

const advice = { recommended: true, done: false, flag: true, report: undefined, recipients: 1 }
const told = (facts: Partial<TraceReport>): TraceReport => ({ proof: 'return_path', suppression: null, ...facts }) as TraceReport

test('whyNotSuppressed() returns a reason exactly if an advised suppression is missing', (t) => {
  for (const flag of [true, false])
    for (const recipients of [1, 2])
      for (const report of [
        undefined,
        ...(['attempt', 'return_path', 'reference', 'queue_id', 'message_id', 'subject'] as const).map((proof) => told({ proof })),
      ])
        for (const recommended of [true, false])
          for (const done of [true, false]) {
            const reason = whyNotSuppressed({ recommended, done, flag, report, recipients })
            t.is(typeof reason === 'string', recommended && !done)
            if (reason !== null) t.regex(reason, /^[A-Z].{20,}\.$/)
          }
})

test('whyNotSuppressed(): the reason matches the evidence', (t) => {
  t.regex(whyNotSuppressed({ ...advice, flag: false }) ?? '', /bounce_auto_suppress is off/)
  t.regex(whyNotSuppressed(advice) ?? '', /No server refused this recipient over SMTP/)
  t.regex(whyNotSuppressed({ ...advice, report: told({ proof: 'attempt', maySuppress: false }) }) ?? '', /one reply for all/)
  t.regex(whyNotSuppressed({ ...advice, report: told({ maySuppress: false }) }) ?? '', /free text without proof/)
  t.regex(
    whyNotSuppressed({ ...advice, report: told({ proof: 'message_id', maySuppress: true }) }) ?? '',
    /off when the bounce was received/,
  )
  t.regex(whyNotSuppressed({ ...advice, report: told({ proof: 'message_id' }) }) ?? '', /only by its Message-ID/)
  t.regex(whyNotSuppressed({ ...advice, report: told({ proof: 'subject' }) }) ?? '', /only by its recipient, subject and time/)
  t.regex(whyNotSuppressed({ ...advice, recipients: 2, report: told({ proof: 'reference' }) }) ?? '', /every recipient/)
  t.regex(whyNotSuppressed({ ...advice, report: told({ proof: 'reference' }) }) ?? '', /off when the bounce was received/)
  const suppression = { id: 'sup_1', reason: 'it bounced' }
  t.regex(whyNotSuppressed({ ...advice, report: told({ suppression }) }) ?? '', /was removed since/)
})
