/** A mail with a signature that forwarders broke, and the ARC chain that they added (RFC 8617). */
import { sealMessage } from 'mailauth/lib/arc/index.js'
import { keyRecord, letter, rsaKey, type Changes } from './golden.ts'

/** The domain of a forwarder, and the DMARC result that it saw. */
export type Hop = readonly [domain: string, dmarc: string]

/** Adds the seals of the hops in the order of forwarding. */
export async function forwarded(...hops: readonly Hop[]): Promise<Changes> {
  const privateKey = rsaKey().privateKey.export({ type: 'pkcs8', format: 'pem' }).toString()
  const { raw } = await letter({ sign: () => '' })
  let seals = Buffer.alloc(0)
  for (const [at, [domain, dmarc]] of hops.entries()) {
    const sealing = { signingDomain: domain, selector: 'arc', privateKey, cv: at === 0 ? 'none' : 'pass' } as const
    const authResults = `mx.${domain}; dmarc=${dmarc} header.from=example.com`
    seals = Buffer.concat([await sealMessage(Buffer.concat([seals, raw]), { ...sealing, authResults }), seals])
  }
  return {
    ...{ session: { mailFrom: 'x@other.test' }, sign: () => seals.toString('latin1') },
    zone: Object.fromEntries(hops.map(([domain]) => [`arc._domainkey.${domain} TXT`, [[keyRecord(rsaKey().publicKey)]]])),
  }
}
