import test from '#test'
import { recipientKind, type InboundFacts } from '#core/inbound/recipient-kind.ts'
import { newVerpId, verpAddress } from '#core/trace/verp-address.ts'
import { secrets } from '../core-fixture.ts'

const domain = 'bounces.example.ch'
const inspectTests = { isOurs: (address: string) => /^[a-z2-7]{26}@bounces\.example\.ch$/i.test(address) }
const facts: InboundFacts = { secrets, inboundDomain: domain, inspectTests }
const homeless: InboundFacts = { ...facts, inboundDomain: null }
const token = verpAddress(secrets, newVerpId(), domain)

test('recipientKind() knows return paths before everything else, at whatever domain they were made for', (t) => {
  t.is(recipientKind(token, facts), 'bounce')
  t.is(recipientKind(token.toUpperCase(), facts), 'bounce')
  t.is(recipientKind(token, homeless), 'bounce')
  t.is(recipientKind(verpAddress(secrets, newVerpId(), 'bounces.customer.test'), facts), 'bounce')
  t.is(recipientKind(`SRS0=HHHH=TT=${domain}=${token.slice(0, 22)}@forwarder.test`, facts), 'bounce')
})

test('recipientKind() tells a guess from an address that is only unknown', (t) => {
  const guess = token.replace(/.(?=@)/, (last) => (last === '0' ? '1' : '0'))
  t.is(recipientKind(guess, facts), 'forged')
  t.is(recipientKind(guess.replace('@', '@x.'), facts), 'forged')
  for (const address of [`x${token}`, `hello@${domain}`, '', '@', domain]) t.is(recipientKind(address, facts), 'unknown', address)
})

test('recipientKind() finds the people who run the service at the inbound domain, and by the bare name', (t) => {
  for (const address of ['postmaster', 'Postmaster', `postmaster@${domain}`, `ABUSE@${domain.toUpperCase()}`])
    t.is(recipientKind(address, facts), 'postmaster', address)
  for (const address of ['abuse', 'postmaster@', 'postmaster@example.ch', `webmaster@${domain}`, `postmaster+x@${domain}`])
    t.is(recipientKind(address, facts), 'unknown', address)
  t.is(recipientKind('postmaster', homeless), 'postmaster')
  t.is(recipientKind('postmaster@', homeless), 'unknown')
})

test('recipientKind() tells the address of a deliverability test by its form', (t) => {
  t.is(recipientKind(`${'a2'.repeat(13)}@${domain}`, facts), 'inspect')
  t.is(recipientKind(`${'a1'.repeat(13)}@${domain}`, facts), 'unknown')
})
