/** Classification of refusals as a table: every rule of a provider, every enhanced code, and the traps. */
import test from '#test'
import { findReplyMeaning, refusalRules } from '#config/mail/status-codes.ts'
import statusCodes from '#config/mail/status-codes.json' with { type: 'json' }
import { classify, type RefusalFacts } from '#core/feedback/apply/classify.ts'
import { codeTable } from './code-table.ts'
import { genericReplies, providerReplies, type Reply } from './provider-replies.ts'
import { column } from '../../support/column.ts'

const factsOf = (facts: Partial<RefusalFacts>): RefusalFacts => ({
  ...{ status: null, smtpCode: null, diagnostic: null, remoteMta: null, recipient: 'ada@example.ch' },
  ...facts,
})
const heard = ({ server, text }: Reply) => classify(factsOf({ diagnostic: text, remoteMta: server }))

for (const reply of [...providerReplies, ...genericReplies]) {
  const { provider, text, category, bounce } = reply
  test(`${provider ?? 'any server'}: ${bounce} and ${category}: ${text.slice(0, 100)}`, (t) => {
    const { reason, nextActions, ...seen } = heard(reply)
    t.deepEqual([seen.provider, seen.category, seen.bounce, seen.suppress], [provider, category, bounce, bounce === 'hard'])
    t.true(/[.)]$/.test(reason) && nextActions.length > 0)
  })
}

test('classification: the documented table has a row for every rule', (t) => {
  const told = [...providerReplies, ...genericReplies].map((reply) => heard(reply).reason)
  t.deepEqual(
    column(
      refusalRules.filter(({ meaning }) => !told.includes(meaning.reason)),
      'meaning',
      'reason',
    ),
    [],
  )
})

test('every rule names its source, or that of its provider', (t) => {
  t.deepEqual(
    statusCodes.rules.filter(({ provider, ...rest }) => provider === null && !('source' in rest)),
    [],
  )
  for (const { source } of statusCodes.providers) t.truthy(source)
})

test('every registered code has a class if permanent, and is soft if temporary', (t) => {
  for (const [bounce, details] of Object.entries(codeTable))
    for (const detail of details) {
      const permanent = classify(factsOf({ status: `5.${detail}` }))
      t.deepEqual([permanent.bounce, permanent.suppress], [bounce, bounce === 'hard'], `5.${detail}`)
      const temporary = classify(factsOf({ status: `4.${detail}` }))
      t.deepEqual([temporary.bounce, temporary.suppress], ['soft', false], `4.${detail}`)
      t.truthy(permanent.registry?.name, detail)
      t.deepEqual(temporary.registry, permanent.registry)
      if (detail !== '0.0') t.not(permanent.category === 'undetermined' && detail !== '1.9', true, detail)
    }
  t.is(Object.values(codeTable).flat().length, 80)
})

test('an unregistered code has the class of its subject, and no registry entry', (t) => {
  const seen = classify(factsOf({ status: '5.1.77' }))
  t.deepEqual([seen.registry, seen.category, seen.bounce], [null, 'recipient', 'soft'])
  t.is(classify(factsOf({ status: '5.9.9' })).category, 'undetermined')
})

test('the registry entry belongs to the code, also if a provider uses it differently', (t) => {
  const seen = classify(factsOf({ status: '5.1.10', remoteMta: 'example-ch.mail.protection.outlook.com', diagnostic: '550 5.1.10 x' }))
  t.deepEqual(seen.registry, { name: 'Recipient address has null MX', rfc: 'RFC 7505' })
  t.is(seen.category, 'recipient_unknown')
})

test('reply codes decide only without other evidence; a refusal of all suppresses none', (t) => {
  const seen = (code: number) => classify(factsOf({ smtpCode: code }))
  t.deepEqual([seen(550).bounce, seen(550).category], ['soft', 'undetermined'])
  t.deepEqual([seen(554).bounce, seen(556).bounce, seen(521).bounce, seen(421).bounce], ['block', 'hard', 'hard', 'soft'])
  t.deepEqual([seen(499).bounce, seen(499).reason], ['soft', classify(factsOf({ status: '4.0.0' })).reason])
  t.is(seen(599).category, 'undetermined')
  t.is(findReplyMeaning(250), undefined)
})

test('an unclassified refusal is soft and named as unknown', (t) => {
  const seen = classify(factsOf({}))
  t.deepEqual([seen.bounce, seen.suppress, seen.status, seen.registry, seen.provider], ['soft', false, null, null, null])
  t.regex(seen.reason, /The report does not state/)
})

test('temporary wins if the code and the reply disagree, to avoid a wrong suppression', (t) => {
  t.false(classify(factsOf({ status: '4.1.1', diagnostic: '550 5.1.1 no such user' })).suppress)
  t.false(classify(factsOf({ status: '5.1.1', diagnostic: '450 4.1.1 try again later' })).suppress)
  t.false(classify(factsOf({ status: '4.2.2', smtpCode: 452, diagnostic: '452 4.2.2 mailbox full' })).suppress)
})

test('the code of the quoted reply replaces a vague status of the report', (t) => {
  for (const status of ['5.0.0', '5.5.0', null]) {
    const seen = classify(factsOf({ status, smtpCode: 550, diagnostic: 'smtp; 550 5.1.1 <ada@example.ch>: sorry' }))
    t.deepEqual([seen.status, seen.bounce], ['5.1.1', 'hard'])
  }
})

test("the server's text has priority over a code of the reporting program only", (t) => {
  const seen = (status: string, diagnostic: string, format = 'dsn') => classify(factsOf({ status, diagnostic, format }))
  t.like(seen('5.1.1', '550 Message rejected as spam'), { bounce: 'block', category: 'content', suppress: false })
  t.like(seen('5.1.1', '550 5.1.1 Message rejected as spam'), { bounce: 'hard', category: 'recipient_unknown' })
  t.like(seen('5.1.1', '550 go away'), { bounce: 'hard', category: 'recipient_unknown' })
  t.like(seen('5.1.1', '550 Message rejected as spam', 'postfix'), { bounce: 'hard', category: 'recipient_unknown' })
  t.like(seen('4.4.7', '452 Insufficient disk space; try again later'), { bounce: 'soft', category: 'expired' })
})

test('an address in the text is not read as an enhanced code', (t) => {
  const seen = classify(factsOf({ diagnostic: '550 connection from 5.1.1.7 not wanted, 15.1.1 neither' }))
  t.deepEqual([seen.status, seen.suppress], [null, false])
})

test('repeated codes on each line do not hide the text', (t) => {
  const text = '450-4.2.1 The user you are trying to contact is receiving mail at 450-4.2.1 a rate that prevents additional messages.'
  t.is(classify(factsOf({ diagnostic: text, remoteMta: 'gmail-smtp-in.l.google.com' })).category, 'rate')
})

test('the name of the reporting relay is not read as part of the reply', (t) => {
  const text = 'host d1.ess.barracudanetworks.com[192.0.2.7] said: 550 5.1.1 <ada@example.ch>: User unknown (in reply to RCPT TO command)'
  t.deepEqual(classify(factsOf({ diagnostic: text })).category, 'recipient_unknown')
})

test('the answering server selects the rules; without a server the domain does', (t) => {
  const text = '550 Requested action not taken: mailbox unavailable, see SPF'
  t.is(classify(factsOf({ diagnostic: text, remoteMta: 'dns; mx00.emig.gmx.net (212.227.15.9)' })).provider, 'gmx_webde')
  t.is(classify(factsOf({ diagnostic: text, recipient: 'ada@gmx.ch' })).provider, 'gmx_webde')
  t.is(classify(factsOf({ diagnostic: text, recipient: 'ada@gmx.ch', remoteMta: 'mail.example.ch' })).provider, null)
  t.is(classify(factsOf({ diagnostic: text, remoteMta: 'mx.notgmx.net' })).provider, null)
})

test('the last web link of a reply is returned, without trailing characters', (t) => {
  const link = (diagnostic: string) => classify(factsOf({ diagnostic })).providerLink
  t.is(link('554 see http://a.example/x. 554 For explanation visit https://b.example/case?c=r1&i=ip.'), 'https://b.example/case?c=r1&i=ip')
  t.is(link('550 look at postmaster.gmx.net/en/case?c=hi'), 'https://postmaster.gmx.net/en/case?c=hi')
  t.is(link('550 <https://c.example/a>'), 'https://c.example/a')
  for (const text of [
    '550 no',
    '550 javascript:alert(1)',
    '550 https://user:secret@d.example/',
    'mail postmaster.',
    `550 https://e.example/${'x'.repeat(600)}`,
  ])
    t.is(link(text), null, text)
})

test('a link is suggested only if the sender can act on it', (t) => {
  const actions = (diagnostic: string) => classify(factsOf({ diagnostic })).nextActions.join(' ')
  t.regex(
    actions('554 5.7.1 listed by spamhaus, see https://check.example/192.0.2.1'),
    /Open the link in the reply: https:\/\/check\.example/,
  )
  t.notRegex(actions('550 5.1.1 no such user, see https://help.example/user'), /Open the link/)
})

test('all expressions of the rules have bounded repetitions, so matching is linear', (t) => {
  for (const { text, status } of refusalRules)
    for (const expression of [text, status]) {
      const source = expression?.source.replaceAll(/\\./g, '_').replaceAll(/\[[^\]]*\]/g, '_') ?? ''
      t.notRegex(source, /[*+]|,\}/, source)
      t.notRegex(source, /\}[^|)]*\)[{?]/, `nested repetition: ${source}`)
    }
})

test('classify() reads the first 2,000 characters of a text', (t) => {
  t.false(classify(factsOf({ diagnostic: `550 ${'x'.repeat(2000)} no such user` })).suppress)
  for (const unit of ['5.7.1 ', 'sender ', '550 ', 'https://', 'IP= ', '5.1.1', 'postmaster.', 'a@', '"', 'said: 550 ', '\u0000\n']) {
    const seen = classify(
      factsOf({ status: '5.0.0', diagnostic: unit.repeat(2000), remoteMta: unit.repeat(500), recipient: unit.repeat(90) }),
    )
    t.true(['hard', 'soft', 'block'].includes(seen.bounce))
  }
})
