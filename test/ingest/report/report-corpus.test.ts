/** Real reports of many programs: the numbers of correct and of false facts. */
import { readFileSync } from 'node:fs'
import test from '#test'
import type { FeedbackEvent } from '#core/feedback/event.ts'
import { readReport } from '#ingest/report/report.ts'
import { corpus, octetsOf, type Expected, type ExpectedMail } from './report-fixtures.ts'

const kinds = { bounce: 'dsn', delayed: 'dsn', delivered: 'dsn', feedback: 'feedback', auto_reply: 'auto_reply', none: 'none' } as const

/** Mails whose text contradicts their label, with the text. */
const saysItself: Readonly<Record<string, { readonly action: string; readonly text: string }>> = {
  'sisimai/lhost-dragonfly-29.eml': { action: 'failed', text: 'Giving up' },
  'sisimai/lhost-dragonfly-30.eml': { action: 'failed', text: 'Giving up' },
  'sisimai/lhost-exim-41.eml': { action: 'delayed', text: 'has not yet been delivered' },
  'sisimai/lhost-gmail-06.eml': { action: 'delayed', text: 'THIS IS A WARNING MESSAGE ONLY' },
  'sisimai/lhost-gmail-11.eml': { action: 'failed', text: 'failed permanently' },
  'sisimai/lhost-gmx-04.eml': { action: 'failed', text: 'This is a permanent error' },
  'sisimai/lhost-mailru-10.eml': { action: 'failed', text: 'This is a permanent error' },
  'sisimai/lhost-opensmtpd-04.eml': { action: 'delayed', text: 'only a temporary failure report' },
  'sisimai/lhost-v5sendmail-01.eml': { action: 'failed', text: 'Cannot send message for 4 days' },
  'sisimai/lhost-x3-02.eml': { action: 'failed', text: 'was aborted after' },
}

interface Score {
  expected: number
  found: number
  surplus: number
  actions: number
  statuses: number
  statusesExpected: number
  readonly wrong: string[]
}

test('corpus: finds recipients, actions and statuses with few false results', (t) => {
  const score: Score = { expected: 0, found: 0, surplus: 0, actions: 0, statuses: 0, statusesExpected: 0, wrong: [] }
  for (const mail of corpus()) check(mail, readReport(octetsOf(mail.file)).events, score)
  const told = score.found + score.surplus
  t.log(`recall ${percent(score.found, score.expected)}, precision ${percent(score.found, told)} of ${score.expected} recipients`)
  t.log(`action ${percent(score.actions, score.found)}, status ${percent(score.statuses, score.statusesExpected)}`)
  for (const line of score.wrong) t.log(line)
  t.is(score.found, score.expected, 'recall')
  t.is(score.surplus, 0, 'precision')
  t.is(score.actions, score.found)
  t.is(score.statuses, score.statusesExpected)
})

test('corpus: recognizes the kind of every mail', (t) => {
  const wrong = corpus().filter(({ file, kind }) => readReport(octetsOf(file)).kind !== kinds[kind])
  t.deepEqual(wrong, [])
})

test('corpus: ordinary mail, spam and automatic replies have no events', (t) => {
  const quiet = corpus().filter(({ kind }) => kind === 'none' || kind === 'auto_reply')
  t.is(quiet.length, 30)
  for (const { file } of quiet) t.deepEqual(readReport(octetsOf(file)).events, [], file)
})

test('corpus: structured events come from the machine-readable part', (t) => {
  for (const { file } of corpus()) {
    const hasPart = /^content-type:\s*message\/(?:delivery-status|feedback-report)/im.test(octetsOf(file).toString('latin1'))
    for (const { isStructured } of readReport(octetsOf(file)).events) t.true(hasPart || !isStructured, file)
  }
})

test('corpus: no diagnostic contains delivery-status fields', (t) => {
  const fields = /(?:Final-Recipient|Reporting-MTA|Remote-MTA|Diagnostic-Code|Last-Attempt-Date)\s*:|\bStatus: \d\.|\bAction: failed/i
  for (const { file } of corpus())
    for (const { diagnostic } of readReport(octetsOf(file)).events) t.notRegex(diagnostic ?? '', fields, file)
})

test('corpus: every rejected label contradicts the text of its mail', (t) => {
  for (const [file, { action, text }] of Object.entries(saysItself)) {
    const label = corpus().find((mail) => mail.file === file)
    t.false(label?.expect[0]?.action_accept.includes(action), file)
    t.true(readFileSync(new URL(`../../fixtures/bounces/${file}`, import.meta.url), 'utf8').includes(text), file)
  }
})

function check({ file, expect }: ExpectedMail, events: readonly FeedbackEvent[], score: Score): void {
  const left = new Set(events)
  for (const expected of expect) {
    score.expected++
    const event = [...left].find((candidate) => names(candidate, expected))
    if (!event) {
      score.wrong.push(`${file}: ${expected.accept.join(' or ')} is missing`)
      continue
    }
    left.delete(event)
    score.found++
    const actions = saysItself[file] ? [saysItself[file].action] : expected.action_accept
    if (actions.includes(event.action ?? '') || actions.includes(event.feedbackType ?? '')) score.actions++
    else score.wrong.push(`${file}: ${event.action} instead of ${actions.join(' or ')}`)
    if (expected.status_mode === 'none') continue
    score.statusesExpected++
    const status = event.status ?? ''
    const isRight =
      expected.status_mode === 'exact' ? expected.status_accept.includes(status) : expected.class_accept.includes(status.charAt(0))
    if (isRight) score.statuses++
    else score.wrong.push(`${file}: status ${status} instead of ${expected.status_accept.join(' or ')}`)
  }
  score.surplus += left.size
  for (const { recipient } of left) score.wrong.push(`${file}: nobody expects ${recipient}`)
}

const names = ({ recipient, originalRecipient }: FeedbackEvent, { accept }: Expected): boolean =>
  accept.includes('*') || [recipient, originalRecipient].some((address) => address !== null && accept.includes(address.toLowerCase()))

const percent = (part: number, whole: number): string => `${((100 * part) / whole).toFixed(1)} %`
