import test from '#test'
import { recipientKind, type InboundFacts } from '#core/inbound/recipient-kind.ts'
import { newVerpId, verpAddress } from '#core/trace/verp-address.ts'
import { secrets } from '../core-fixture.ts'

const domain = 'bounces.example.ch'
const inspectTests = { isOurs: (address: string) => /^[a-z2-7]{26}@bounces\.example\.ch$/i.test(address) }
const facts: InboundFacts = { secrets, inboundDomain: domain, inspectTests }
const homeless: InboundFacts = { ...facts, inboundDomain: null }
const token = verpAddress(secrets, newVerpId(), domain)

test('recipientKind() detects return paths first, at any domain', (t) => {
  t.is(recipientKind(token, facts), 'bounce')
  t.is(recipientKind(token.toUpperCase(), facts), 'bounce')
  t.is(recipientKind(token, homeless), 'bounce')
  t.is(recipientKind(verpAddress(secrets, newVerpId(), 'bounces.customer.test'), facts), 'bounce')
  t.is(recipientKind(`SRS0=HHHH=TT=${domain}=${token.slice(0, 22)}@forwarder.test`, facts), 'bounce')
})

test('recipientKind() distinguishes a guess from an unknown address', (t) => {
  const guess = token.replace(/.(?=@)/, (last) => (last === '0' ? '1' : '0'))
  t.is(recipientKind(guess, facts), 'forged')
  t.is(recipientKind(guess.replace('@', '@x.'), facts), 'forged')
  for (const address of [`x${token}`, `hello@${domain}`, '', '@', domain]) t.is(recipientKind(address, facts), 'unknown', address)
})

test('recipientKind() finds role addresses at the inbound domain, and without a domain', (t) => {
  for (const address of ['postmaster', 'Postmaster', `postmaster@${domain}`, `ABUSE@${domain.toUpperCase()}`])
    t.is(recipientKind(address, facts), 'postmaster', address)
  for (const address of ['abuse', 'postmaster@', 'postmaster@example.ch', `webmaster@${domain}`, `postmaster+x@${domain}`])
    t.is(recipientKind(address, facts), 'unknown', address)
  t.is(recipientKind('postmaster', homeless), 'postmaster')
  t.is(recipientKind('postmaster@', homeless), 'unknown')
})

test('recipientKind() detects the address of a deliverability test by its form', (t) => {
  t.is(recipientKind(`${'a2'.repeat(13)}@${domain}`, facts), 'inspect')
  t.is(recipientKind(`${'a1'.repeat(13)}@${domain}`, facts), 'unknown')
})
