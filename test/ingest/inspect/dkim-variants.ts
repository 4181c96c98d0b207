/** DKIM signatures that this service does not create. */
import { generateKeyPairSync } from 'node:crypto'
import { dkimSign } from 'mailauth/lib/dkim/sign.js'
import { now, rsaKey, type Changes } from './golden.ts'

const edKey = generateKeyPairSync('ed25519')
const edRecord = `v=DKIM1; k=ed25519; p=${edKey.publicKey.export({ type: 'spki', format: 'der' }).subarray(-32).toString('base64')}`

interface Tags {
  readonly maxBodyLength?: number
  readonly expires?: Date
  readonly privateKey?: string
  readonly selector?: string
  readonly algorithm?: string
}
/** A signature by another library, with tags that this service never writes. */
export const byMailauth =
  ({ maxBodyLength, expires, privateKey, selector = 'k1', algorithm }: Tags = {}) =>
  async (message: string): Promise<string> => {
    const pem = privateKey ?? rsaKey().privateKey.export({ type: 'pkcs8', format: 'pem' }).toString()
    const entry = {
      signingDomain: 'example.com',
      selector,
      privateKey: pem,
      ...(maxBodyLength !== undefined && { maxBodyLength }),
      algorithm,
    }
    const { signatures } = await dkimSign(Buffer.from(message, 'latin1'), {
      ...{ headerList: ['From', 'Subject', 'Date'], signTime: new Date(now - 5000), ...(expires && { expires }), signatureData: [entry] },
    } as unknown as Parameters<typeof dkimSign>[1])
    return signatures
  }
export const edPem = edKey.privateKey.export({ type: 'pkcs8', format: 'pem' }).toString()
export const edZone = { 'ed._domainkey.example.com TXT': [[edRecord]] }

/** A mail with only an Ed25519 signature. */
export const ed25519: Changes = { sign: byMailauth({ privateKey: edPem, selector: 'ed' }), zone: edZone }
