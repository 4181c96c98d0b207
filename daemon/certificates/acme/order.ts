/** Orders a certificate (RFC 8555 §7.4). Registers an account for the first order and keeps it. */
import { AsyncLocalStorage } from 'node:async_hooks'
import type { Client } from 'acme-client'
import { AcmeTransport } from '../../../protocols/outbound/acme-transport.ts'
import { covers, usable } from '../certificate.ts'
import type { Shown } from './challenges.ts'
import type { Account, Ordered, OrderRecords } from './order-records.ts'

export interface OrderRequest {
  readonly records: OrderRecords
  /** URL of the directory of the certificate authority. */
  readonly directory: string
  readonly names: readonly string[]
  readonly challenge: 'http-01' | 'tls-alpn-01'
  readonly email: string | null
  /** External account to bind the account to (RFC 8555 §7.3.4). */
  readonly external: { readonly kid: string; readonly hmacKey: string } | undefined
  /** Certificates in PEM that the client trusts for the directory, in addition to public authorities. */
  readonly trusted: string | null
  readonly challenges: Shown
  readonly userAgent: string
  readonly signal: AbortSignal
  /** First delay between two requests for the state of an order, in milliseconds. */
  readonly pollMs: number
}

/** A failed order. The message is for the operator and contains the authority's error. */
export class OrderFailed extends Error {
  override readonly name = 'OrderFailed'
  /** Delay that the certificate authority requested. */
  readonly retryAfterSeconds: number | undefined

  constructor(message: string, retryAfterSeconds: number | undefined, options?: ErrorOptions) {
    super(message, options)
    this.retryAfterSeconds = retryAfterSeconds
  }
}

const pollAttempts = 12

const unknownAccount = 'urn:ietf:params:acme:error:accountDoesNotExist'

/** Returns a certificate for all names with a new key. If it throws `OrderFailed`, only the account may have changed. */
export async function orderCertificate(request: OrderRequest): Promise<Ordered> {
  const transport = new AcmeTransport(request)
  try {
    return await transports.run(transport, () =>
      attempt(request).catch(async (error: unknown) => {
        if (transport.problem?.type !== unknownAccount) throw error
        // the authority no longer has the account; test authorities drop accounts at each start
        await request.records.keepAccount({ ...(await request.records.account(request.directory)), url: null })
        return attempt(request)
      }),
    )
  } catch (error) {
    const { type, retryAfterSeconds } = transport.problem ?? {}
    const shown = error instanceof Error && error.message !== '' ? error.message : (type ?? String(error))
    throw new OrderFailed(shown, retryAfterSeconds, { cause: error })
  } finally {
    await request.challenges.clear()
  }
}

/** Transport of the current order. `acme-client` has one HTTP client for the whole process. */
const transports = new AsyncLocalStorage<AcmeTransport>()

/** Loads the library with its 51 packages, at the first order. */
async function library(): Promise<typeof import('acme-client')> {
  const { default: acme } = await import('acme-client')
  acme.axios.defaults.adapter = async (config) => {
    const transport = transports.getStore()
    if (!transport) throw new Error('A request to a certificate authority was sent outside of an order.')
    const { url = '', method = 'get', data } = config
    const headers = Object.entries(config.headers.toJSON()).flatMap(([name, value]) => (value === null ? [] : [[name, String(value)]]))
    const body = typeof data === 'string' ? data : undefined
    const answered = await transport.send({ url, method: method.toUpperCase(), headers: Object.fromEntries(headers), body })
    return {
      status: answered.status,
      statusText: '',
      headers: { ...answered.headers } as Record<string, string>,
      data: answered.text,
      config,
    }
  }
  return acme
}

async function attempt(request: OrderRequest): Promise<Ordered> {
  const { records, directory, names, challenge: wanted, external, challenges, pollMs } = request
  const acme = await library()
  const account = await records.account(directory)
  const client = new acme.Client({
    directoryUrl: directory,
    accountKey: account.key,
    ...(account.url !== null && { accountUrl: account.url }),
    ...(external && { externalAccountBinding: external }),
    ...{ backoffAttempts: pollAttempts, backoffMin: pollMs },
  })
  await register(client, account, request)
  const key = await acme.crypto.createPrivateEcdsaKey('P-256')
  const [, csr] = await acme.crypto.createCsr({ altNames: [...names] }, key)
  const cert = await client.auto({
    csr,
    termsOfServiceAgreed: true,
    challengePriority: [wanted],
    skipChallengeVerification: true,
    async challengeCreateFn(authorization, { type, token }, keyAuthorization) {
      const name = authorization.identifier.value
      if (type !== wanted) throw new Error(`The certificate authority offers no ${wanted} for ${name}.`)
      if (type === 'http-01') return challenges.showText(token, keyAuthorization)
      const own = await acme.crypto.createPrivateEcdsaKey('P-256')
      const [, shown] = await acme.crypto.createAlpnCertificate(authorization, keyAuthorization, own)
      await challenges.showCertificate(name, { cert: shown, key: own })
    },
    challengeRemoveFn: async () => {},
  })
  const ordered = { directory, cert, key: key.toString('utf8') }
  const missing = usable(ordered.cert, ordered.key) ? names.filter((name) => !covers(ordered, name)) : names
  if (missing.length > 0) throw new Error(`The certificate that was issued is not valid for ${missing.join(', ')}.`)
  return ordered
}

/** Creates the account, or updates the contact address. */
async function register(client: Client, account: Account, { records, email }: OrderRequest): Promise<void> {
  const contact = email === null ? [] : [`mailto:${email}`]
  if (account.url === null) await client.createAccount({ termsOfServiceAgreed: true, ...(email !== null && { contact }) })
  else if (account.email === email) return
  else await client.updateAccount({ contact })
  await records.keepAccount({ ...account, url: client.getAccountUrl(), email })
}
