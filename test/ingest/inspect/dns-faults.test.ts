/** For every fault of a mail: if DNS does not answer a query, the report does not count that against the mail. */
import test from '#test'
import type { InspectReport } from '#core/inspect/report.ts'
import { inspectMail } from '#ingest/inspect/score.ts'
import { forwarded } from './forwarded.ts'
import { alternative, keyRecord, letter, newsletter, rsaKey, signed, type Changes } from './golden.ts'

const key = (bits = 2048): readonly (readonly string[])[] => [[keyRecord(rsaKey(bits).publicKey)]]
const bodyText = 'Your order of the blue teapot is on its way and will reach you on Monday.'
const counted = 'https://click.tracker.test/x'

const mails: Readonly<Record<string, () => Promise<readonly [typeof letter, Changes]>>> = {
  'unsigned newsletter': async () => [newsletter, { sign: () => '' }],
  'mail that was changed on its way': async () => [newsletter, { after: (text) => text.replace('blue teapot', 'blue teapots') }],
  'mail without proof': async () => [
    letter,
    { sign: () => '', zone: { 'shop.example.com TXT': undefined, '_dmarc.example.com TXT': undefined } },
  ],
  'forwarded mail': async () => [letter, await forwarded(['outlook.com', 'pass'], ['google.com', 'fail'])],
  'mail that a stranger signed': async () => [
    letter,
    {
      session: { mailFrom: 'x@other.test' },
      sign: (message) => signed(message, { domain: 'other.test' }),
      zone: {
        'other.test TXT': [['v=spf1 mx a:w.other.test include:more.test redirect=rest.test']],
        'more.test TXT': [['v=spf1 exists:%{i}.e.test -all']],
        'rest.test TXT': [['v=spf1 ptr:example.com ~all']],
        'other.test MX': [
          { exchange: 'mx.example.com', priority: 1 },
          { exchange: 'mx2.example.com', priority: 2 },
        ],
        'mx2.example.com CNAME': ['mx.example.com'],
        'k1._domainkey.other.test TXT': key(),
      },
    },
  ],
  'mail with a weak and a strong signature': async () => [
    letter,
    {
      sign: async (message) => (await signed(message, { bits: 1024, selector: 'k2' })) + (await signed(message, { domain: 'other.test' })),
      zone: { 'k2._domainkey.example.com TXT': key(1024), 'k1._domainkey.other.test TXT': key() },
    },
  ],
  'mail of a free mailbox': async () => [
    letter,
    { header: { From: 'Ada <ada@gmail.com>' }, zone: { '_dmarc.gmail.com TXT': [['v=DMARC1; p=none']] } },
  ],
  'mail of a subdomain with reports elsewhere': async () => [
    letter,
    {
      header: { From: 'Ada <ada@a.b.example.com>', 'Reply-To': 'ada@example.com' },
      zone: {
        'a.b.example.com MX': 'ENODATA',
        '_dmarc.b.example.com TXT': [['v=DMARC1; p=none; rua=mailto:x@one.test,mailto:y@two.test']],
        'b.example.com._report._dmarc.two.test TXT': [['v=DMARC1']],
      },
    },
  ],
  'mail of a server with two names': async () => [
    letter,
    {
      session: { helo: 'dyn-4.rented.test' },
      zone: {
        '25.113.0.203.in-addr.arpa PTR': ['dyn-4.rented.test', 'mail.example.com'],
        'dyn-4.rented.test A': ['203.0.113.25'],
        '_25._tcp.mx.example.com TLSA': undefined,
      },
    },
  ],
  'mail on lists': async () => [
    letter,
    {
      zone: {
        '25.113.0.203.minor.ip.test A': ['127.0.0.2'],
        '25.113.0.203.major.ip.test A': ['127.0.0.2'],
        'example.com.minor.domain.test A': ['127.0.0.2'],
        'mail.example.com A': undefined,
      },
    },
  ],
  'mail whose links count clicks': async () => [
    letter,
    {
      body: alternative(`${bodyText} ${counted}`, `<p>${bodyText}</p><a href="${counted}">www.example.com</a>`),
      sign: async (message) => (await signed(message)) + (await signed(message, { domain: 'tracker.test' })),
      zone: { 'k1._domainkey.tracker.test TXT': key() },
    },
  ],
}

/** The faults that only the second report counts against the mail. */
function heldAgainst(before: InspectReport, after: InspectReport): string[] {
  const held: string[] = []
  for (const [at, { id, status, points, max }] of after.checks.entries()) {
    const known = before.checks[at]
    const least = known?.status === 'na' ? max : (known?.points ?? max)
    if (status !== 'na' && points < least) held.push(`${id} ${known?.points} -> ${points}`)
  }
  for (const { id } of after.caps) if (!before.caps.some((cap) => cap.id === id)) held.push(`cap ${id}`)
  for (const [at, { id, providers }] of after.requirements.entries())
    for (const [place, { provider, status }] of providers.entries())
      if (status === 'missed' && before.requirements[at]?.providers[place]?.status !== 'missed') held.push(`rule ${id} of ${provider}`)
  return held
}

for (const [what, mailOf] of Object.entries(mails))
  test(`${what}: an unanswered DNS query costs no points, no cap and no rule`, async (t) => {
    const [mail, changes] = await mailOf()
    const answered = await mail(changes)
    const before = await inspectMail(answered)
    const questions = [...new Set(answered.dns.questions)]
    t.true(questions.length > 10)
    for (const question of questions)
      for (const code of ['ETIMEOUT', 'ESERVFAIL', 'EREFUSED']) {
        const after = await inspectMail(await mail({ ...changes, zone: { ...changes.zone, [question]: code } }))
        t.deepEqual(heldAgainst(before, after), [], `${question} ${code}`)
      }
  })
