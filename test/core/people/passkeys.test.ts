/** Passkeys of each key type: phones and computers have ES256 or RS256, few have EdDSA. */
import { createHash, generateKeyPairSync, randomBytes, sign, type KeyObject } from 'node:crypto'
import test from '#test'
import { Change } from '#store/change.ts'
import { browser, peopleFixture } from './people-fixture.ts'

const host = 'post.example.ch'
const base64url = (bytes: Uint8Array): string => Buffer.from(bytes).toString('base64url')
const hashOf = (bytes: string | Uint8Array): Buffer => createHash('sha256').update(bytes).digest()
const part = (key: KeyObject, name: 'x' | 'y' | 'n'): Buffer => Buffer.from(String(key.export({ format: 'jwk' })[name]), 'base64url')

/** Key pairs, and public keys in COSE format (RFC 9053 §7, RFC 8230 §4). */
const kinds = {
  ES256() {
    const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
    const coded = ['a5010203262001215820', part(publicKey, 'x'), '225820', part(publicKey, 'y')]
    return { coded, privateKey, hash: 'sha256' }
  },
  RS256() {
    const { publicKey, privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 })
    return { coded: ['a401030339010020590100', part(publicKey, 'n'), '2143010001'], privateKey, hash: 'sha256' }
  },
  EdDSA() {
    const { publicKey, privateKey } = generateKeyPairSync('ed25519')
    return { coded: ['a4010103272006215820', part(publicKey, 'x')], privateKey, hash: null }
  },
}

const bytesOf = (pieces: readonly (string | Buffer)[]): Buffer =>
  Buffer.concat(pieces.map((piece) => (typeof piece === 'string' ? Buffer.from(piece, 'hex') : piece)))

/** An authenticator with one key. WebAuthn Level 3 §6.1, §6.5. */
function authenticatorOf(kind: keyof typeof kinds) {
  const { coded, privateKey, hash } = kinds[kind]()
  const id = randomBytes(16)
  const answer = (type: string, challenge: string, response: (client: Buffer) => Readonly<Record<string, string>>): string => {
    const client = Buffer.from(JSON.stringify({ type, challenge, origin: `https://${host}`, crossOrigin: false }))
    const said = { clientDataJSON: base64url(client), ...response(client) }
    return JSON.stringify({ id: base64url(id), rawId: base64url(id), type: 'public-key', clientExtensionResults: {}, response: said })
  }
  return {
    create(options: string) {
      const { challenge } = JSON.parse(options) as { challenge: string }
      const data = bytesOf([hashOf(host), '4500000000', Buffer.alloc(16), '0010', id, ...coded])
      const length = Buffer.from([data.length >> 8, data.length & 255])
      const attestation = bytesOf(['a363666d74646e6f6e656761747453746d74a068617574684461746159', length, data])
      return answer('webauthn.create', challenge, () => ({ attestationObject: base64url(attestation) }))
    },
    get(options: string, userId: string) {
      const { challenge } = JSON.parse(options) as { challenge: string }
      const data = bytesOf([hashOf(host), '0500000001'])
      return answer('webauthn.get', challenge, (client) => ({
        authenticatorData: base64url(data),
        signature: base64url(sign(hash, Buffer.concat([data, hashOf(client)]), privateKey)),
        userHandle: base64url(Buffer.from(userId)),
      }))
    },
  }
}

for (const kind of ['ES256', 'RS256', 'EdDSA'] as const) {
  test(`a passkey of the kind ${kind} is added and signs in`, async (t) => {
    const { fixture, sessions, passkeys, member } = await peopleFixture(t)
    const user = await member('ada@example.ch', 'owner')
    const change = new Change()
    const { session } = await sessions.begin(change, user.id, 'link', browser)
    await fixture.database.commit(change)
    const authenticator = authenticatorOf(kind)
    await passkeys.register(user, session, 'phone', authenticator.create(await passkeys.creationOptions(user)))
    const begun = await passkeys.signIn(authenticator.get(await passkeys.requestOptions(), user.id), browser)
    t.is(begun.session.userId, user.id)
    t.is(begun.session.method, 'passkey')
  })
}
