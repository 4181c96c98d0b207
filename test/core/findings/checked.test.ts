/** Values in the findings of all checks for members: texts find their values, names of times end in `At`, and no value is an address. */
import test from '#test'
import { nameOf } from '#core/findings/finding.ts'
import { findingText } from '#core/findings/finding-text.ts'
import { factsOf, findingKinds } from '#core/findings/kinds.ts'
import { column } from '../../support/column.ts'
import { checkedFindings } from './checked.ts'

test('checks: each kind for members has its texts from the values of its check', (t) => {
  const members = findingKinds.filter((kind) => factsOf(kind).audience !== 'operator')
  t.deepEqual([...new Set(column(checkedFindings, 'kind'))].toSorted(), members.toSorted())
  for (const finding of checkedFindings) for (const text of Object.values(findingText(finding))) t.regex(text, /^\S.*\S$/, finding.kind)
})

test('checks: names of times end in At, and no value is a mail address', (t) => {
  for (const { kind, params } of checkedFindings)
    for (const [name, value] of Object.entries(params)) {
      const isTime = typeof value === 'number' && value > Date.UTC(2020)
      t.true(!isTime || name.endsWith('At'), `${kind}: ${name} is ${value}`)
      t.false(String(value).includes('@'), `${kind}: ${name} is ${value}`)
    }
})

/** Titles of the design, from the values of the checks. */
const titles: Readonly<Record<string, string>> = {
  'quota.used sends_today': 'The limit of 100 messages a day is reached',
  'destination.resting dst_1': 'Postmark is paused',
  'destination.failing dst_1': 'Postmark fails 88.9 % of attempts',
  'destination.login_refused dst_1': 'Postmark refuses the login',
  'route.missing prj_1': 'Mail from bellevue.example is captured',
  'webhook.failing whk_1': "Orders isn't getting events",
  'webhook.parked whk_1': '2 events for Orders are parked',
  'domain.dkim rigi.example': 'rigi.example lost its DKIM record',
  'mail.bounced prj_1': '9 % of recipients bounced in the last hour',
  'mail.complained prj_1': '9 % of recipients marked mail as spam today',
  'scanner.unreachable ': "Uploaded files can't be scanned",
  'inbound.failing inr_1': "Mail to Orders@… isn't delivered to your app",
  'queue.late prj_1': 'One message has waited over an hour',
  'mail.refused prj_1': '30 requests were refused',
  'payment.overdue ': 'The invoice of December 2029 is overdue',
  'approval.waiting prj_1': '2 messages of agents wait for approval',
  'queue.held prj_1': '2 messages have been on hold for over a day',
  'source.silent src_1': 'Postfix has reported no bounces for 21,929 days',
  'login.attacked smtp_1': 'SMTP login WordPress: 400 failed sign-ins',
  'site.domain www.rigi.example': "www.rigi.example doesn't lead here",
  'credential.expiring key_1': 'API key Webshop expires in 1 day',
  'domain.unknown rigi.example': 'rigi.example sends, but is not added',
}

test('titles: name the affected object or a count, in each language', (t) => {
  const seen = new Map(checkedFindings.map((finding) => [nameOf(finding), findingText(finding).title]))
  for (const [name, title] of Object.entries(titles)) t.is(seen.get(name), title, name)
  const withoutObject = new Set(['scanner.unreachable'])
  for (const language of ['en', 'de', 'fr', 'it'])
    for (const finding of checkedFindings) {
      if (withoutObject.has(finding.kind)) continue
      const { title } = findingText(finding, language)
      const isNamed = Object.values(finding.params).some((value) => String(value).length > 1 && title.includes(String(value)))
      const isCounted = /^(?:\d|One |Eine |Un )/.test(title) || /\d/.test(title)
      t.true(isNamed || isCounted, `${language} ${finding.kind}: ${title}`)
      t.notRegex(title, /none|undefined|NaN|[{}]/, `${language} ${finding.kind}`)
    }
})

test('titles: few recipients are counted, without a percentage', (t) => {
  const params = { project: 'Shop', some: 7, all: 43, hours: 24, percent: 'none' }
  t.is(findingText({ kind: 'mail.bounced', params }).title, '7 of 43 recipients bounced today')
})

test('titles: shares have the decimal sign of the language', (t) => {
  const params = { some: 43, all: 344, hours: 1, percent: '12.5', project: 'Shop' }
  const title = (language: string) => findingText({ kind: 'mail.bounced', params }, language).title
  t.regex(title('en'), /12\.5 %/)
  t.regex(title('de'), /12,5 %/)
})
