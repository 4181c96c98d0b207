import test from '#test'
import { SecretBox } from '#core/access/secret-box.ts'
import { newVerpId, openVerpAddress, verpAddress, verpIdOf } from '#core/trace/verp-address.ts'
import { secrets } from '../core-fixture.ts'

const domain = 'bounces.example.ch'
const alphabet = '0123456789abcdefghjkmnpqrstvwxyz'
const made = (): { readonly id: string; readonly address: string; readonly token: string } => {
  const id = newVerpId()
  const address = verpAddress(secrets, id, domain)
  return { id, address, token: address.slice(0, 22) }
}

test('verpAddress(): makes 22 characters that resolve to their id, ignoring case', (t) => {
  const seen = new Set<string>()
  for (let n = 0; n < 500; n++) {
    const { id, address } = made()
    t.regex(address, /^b[0-9a-hjkmnp-tv-z]{21}@bounces\.example\.ch$/)
    t.is(openVerpAddress(secrets, address), id)
    t.is(openVerpAddress(secrets, address.toUpperCase()), id)
    t.is(verpIdOf(address), id)
    seen.add(id)
  }
  t.is(seen.size, 500)
})

test('verpAddress(): folds the case of the domain', (t) => {
  const id = newVerpId()
  t.is(verpAddress(secrets, id, 'Bounces.Example.CH'), verpAddress(secrets, id, domain))
})

test('openVerpAddress(): refuses a token with any changed character', (t) => {
  for (let n = 0; n < 10; n++) {
    const { token } = made()
    for (let at = 0; at < token.length; at++) {
      for (const other of `${alphabet}ilou-=+`) {
        if (other === token[at]) continue
        t.is(openVerpAddress(secrets, `${token.slice(0, at)}${other}${token.slice(at + 1)}@${domain}`), undefined)
      }
    }
  }
})

test('openVerpAddress(): refuses other lengths, domains, services and non-addresses', (t) => {
  const { address, token } = made()
  const others = ['', '@', domain, token, `${token}@`, `@${domain}`, `${token}0@${domain}`, `${token.slice(1)}@${domain}`]
  for (const other of [...others, `${token}@example.ch`, `${token}@x.${domain}`, `x${address}`, `"${token}"@${domain}`])
    t.is(openVerpAddress(secrets, other), undefined, other)
  t.is(openVerpAddress(new SecretBox(Buffer.alloc(32, 8)), address), undefined)
})

test('openVerpAddress(): refuses a token of another key with the same key character', (t) => {
  const { address, token } = made()
  let found = 0
  for (let key = 0; key < 250 && found === 0; key++) {
    const other = new SecretBox(Buffer.alloc(32, key))
    if (other.keyId === secrets.keyId || verpAddress(other, newVerpId(), domain)[1] !== token[1]) continue
    found++
    t.is(openVerpAddress(other, address), undefined)
  }
  t.is(found, 1)
})

test('openVerpAddress(): accepts addresses wrapped by forwarders, with the same checks', (t) => {
  const { id, token } = made()
  const wrapped = [
    `SRS0=HHHH=TT=${domain}=${token}@forwarder.example`,
    `srs0=abcd=7q=${domain}=${token}@forwarder.example`,
    `SRS0+HHHH=TT=${domain.toUpperCase()}=${token.toUpperCase()}@forwarder.example`,
    `SRS0-HHHH=TT=${domain}=${token}@forwarder.example`,
    `SRS1=GGGG=first.example==HHHH=TT=${domain}=${token}@second.example`,
    `SRS1+GGGG=first.example=-HHHH=TT=${domain}=${token}@second.example`,
  ]
  for (const address of wrapped) t.is(openVerpAddress(secrets, address), id, address)
  t.true(`SRS0=HHHH=TT=${domain}=${token}`.length <= 64, 'within the local part of RFC 5321 §4.5.3.1.1')
  const spoilt = [
    `SRS0=HHHH=TT=example.ch=${token}@${domain}`,
    `SRS0=HHHH=TT=${domain}=${token.slice(0, -1)}@forwarder.example`,
    `SRS0=HHHH=${domain}=${token}@forwarder.example`,
    `SRS1=GGGG=first.example=HHHH=TT=${domain}=${token}@second.example`,
    `SRS2=HHHH=TT=${domain}=${token}@forwarder.example`,
  ]
  for (const address of spoilt) t.is(openVerpAddress(secrets, address), undefined, address)
})
