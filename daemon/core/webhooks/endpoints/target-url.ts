/**
 * Checks target URLs when they are set; the HTTP client checks the address again for each connection. Queries often contain tokens, so they
 * are sealed in the store and masked in responses.
 */
import type { SecretBox } from '../../access/secret-box.ts'
import { isPublicAddress, notPermitted, type AddressGuard } from '../../outbound/address-guard.ts'
import { addressesIfAny, type Resolver } from '../../outbound/resolver.ts'
import { invalid } from '../../refusals.ts'

export interface TargetGuards {
  readonly guard: AddressGuard
  readonly resolver: Resolver
}

const maxLength = 2048

/**
 * Returns the normalized URL. Throws `validation_failed` with the field name. The DNS look-up can take seconds; a name without addresses is
 * accepted.
 */
export async function checkTargetUrl(text: string, { guard, resolver }: TargetGuards, field = 'target_url'): Promise<string> {
  const wrong = (message: string): Error => invalid([{ path: field, message }])
  const url = URL.parse(text)
  if (!url || (url.protocol !== 'https:' && url.protocol !== 'http:')) throw wrong('must be an https URL')
  if (url.username !== '' || url.password !== '')
    throw wrong('must not contain a user name or password; deliveries are authenticated by their signature')
  if (url.search === `?${mask}`) throw wrong(`contains ${mask} in place of its query; give the whole address`)
  if (url.hash !== '') throw wrong('must not contain a fragment (#)')
  if (url.href.length > maxLength) throw wrong(`must not be longer than ${maxLength} characters`)
  const isEncrypted = url.protocol === 'https:'
  const port = portOf(url)
  const addresses = await addressesIfAny(resolver, hostOf(url))
  const permitted = addresses.filter((address) => guard(address, port))
  if (addresses.length > 0 && permitted.length === 0) throw wrong(notPermitted('webhooks', hostOf(url), port))
  if (!isEncrypted && !(permitted.length > 0 && permitted.every((address) => !isPublicAddress(address))))
    throw wrong('must begin with https://; http:// is allowed only in networks listed in POSTERN_OUTBOUND_ALLOW')
  return url.href
}

/** Replaces the query in displayed URLs. */
const mask = '***'
/** See `SecretBox.seal`. */
const sealedQuery = /^v1\.[0-9a-f]{8}\.[\w-]{16}\.[\w-]+$/

/** Returns a URL without its query, and the query if the URL has one. */
function halvesOf(address: string): readonly [string, string | undefined] {
  const at = address.indexOf('?')
  const query = at < 0 ? '' : address.slice(at + 1)
  return query === '' ? [address, undefined] : [address.slice(0, at), query]
}

const queryContext = (secretContext: string): string => `${secretContext}/query`

/**
 * Returns the stored URL with its query sealed. `secretContext` is the context of the signing secret. Returns the stored value if the URL
 * is unchanged.
 */
export function keptUrl(secrets: SecretBox, url: string, secretContext: string, before?: string | null): string {
  if (before != null && isSealed(before) && openedUrl(secrets, before, secretContext) === url) return before
  const [address, query] = halvesOf(url)
  return query === undefined ? url : `${address}?${secrets.seal(query, queryContext(secretContext))}`
}

/** Returns the URL for requests, or undefined if its query was sealed with another key. Earlier releases stored queries unsealed. */
export function openedUrl(secrets: SecretBox, kept: string, secretContext: string): string | undefined {
  const [address, query] = halvesOf(kept)
  if (query === undefined || !sealedQuery.test(query)) return kept
  const opened = secrets.open(query, queryContext(secretContext))
  return opened === undefined ? undefined : `${address}?${opened}`
}

/** Returns the displayed URL, with its query masked. */
export function shownUrl(kept: string): string {
  const [address, query] = halvesOf(kept)
  return query === undefined ? kept : `${address}?${mask}`
}

/** Whether a stored URL has no query or a sealed query. */
export function isSealed(kept: string): boolean {
  const [, query] = halvesOf(kept)
  return query === undefined || sealedQuery.test(query)
}

/** Host name or address literal for the connection. */
const hostOf = ({ hostname }: URL): string => hostname.replace(/^\[|\]$/g, '')
const portOf = ({ port, protocol }: URL): number => Number(port || (protocol === 'https:' ? 443 : 80))
