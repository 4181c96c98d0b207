/** Fields that a signature covers, with the message in pieces of any size; verified by mailauth. */
import { createPrivateKey, generateKeyPairSync } from 'node:crypto'
import test from '#test'
import { dkimVerify } from 'mailauth/lib/dkim/verify.js'
import { digestMessage, dkimSignature } from '#core/domains/dkim-signature.ts'
import { machineTime } from '../../support/fake-clock.ts'

const block = 'From: Shop <shop@example.com>\r\nTo: anna@example.net\r\nSubject: Hi\r\nDate: Sat, 21 Nov 2026 12:00:00 +0000\r\n'
const message = `${block}\r\nHello.\r\n`

const { privateKey, publicKey } = generateKeyPairSync('rsa', {
  modulusLength: 2048,
  publicKeyEncoding: { type: 'spki', format: 'der' },
  privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
})
const record = `v=DKIM1; k=rsa; p=${publicKey.toString('base64')}`

async function signed(): Promise<string> {
  const digest = await digestMessage([Buffer.from(message)])
  if (!digest) throw new Error('nothing to sign')
  const key = { domain: 'example.com', selector: 's', algorithm: 'rsa' as const, privateKey: createPrivateKey(privateKey) }
  return (await dkimSignature(digest, key, machineTime())) + message
}

async function verdictOf(text: string): Promise<string | undefined> {
  const { results } = await dkimVerify(Buffer.from(text), { resolver: async () => [[record]] })
  return results[0]?.status.result
}

test('a second From, Subject, Date or To breaks the signature, above or below the first', async (t) => {
  const whole = await signed()
  t.is(await verdictOf(whole), 'pass')
  t.is(await verdictOf(`X-Other: may come\r\n${whole}`), 'pass', 'unprotected fields may be added in transit')
  for (const field of [
    'From: Bank <bank@example.org>',
    'Subject: Pay now',
    'Date: Sun, 22 Nov 2026 12:00:00 +0000',
    'To: ben@example.net',
  ]) {
    t.is(await verdictOf(`${field}\r\n${whole}`), 'fail', `${field} above`)
    t.is(await verdictOf(whole.replace(block, `${block}${field}\r\n`)), 'fail', `${field} below`)
  }
})

test('From is listed once more than it occurs, regardless of other fields', async (t) => {
  const names =
    (await signed())
      .replaceAll(/\r\n\t/g, '')
      .match(/; ?h=([^;]*);/)?.[1]
      ?.split(':') ?? []
  const count = (name: string): number => names.filter((one) => one === name).length
  t.deepEqual(
    ['From', 'Subject', 'Date', 'To', 'Cc'].map((name) => [name, count(name)]),
    [
      ['From', 2],
      ['Subject', 2],
      ['Date', 2],
      ['To', 2],
      ['Cc', 0],
    ],
  )
})

test('the signer finds the end of the header block across any piece boundary', async (t) => {
  for (const text of [message, 'From:a@b.ch\r\n\r\n', 'From:a@b.ch\r\n\r\n\r\n\r\nx', 'From:a@b.ch\r\nX: y\r\n\r\nFrom: c@d.ch\r\n\r\nx']) {
    const octets = Buffer.from(text)
    const expected = await digestMessage([octets])
    t.truthy(expected)
    for (let at = 1; at < octets.length; at++)
      t.deepEqual(await digestMessage([octets.subarray(0, at), octets.subarray(at)]), expected, `${JSON.stringify(text)} cut at ${at}`)
    const one = Array.from(octets, (_, at) => octets.subarray(at, at + 1))
    t.deepEqual(await digestMessage(one), expected, 'octet by octet')
  }
})
