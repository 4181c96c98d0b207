/** Hands messages of `postern sendmail` over to the daemon: one message, or all messages of a spool folder. */
import { keyNameOf } from '#core/access/keys/key-proof.ts'
import { sendmailPath, sendmailType } from '../../../admin-api/operator/sendmail-address.ts'
import { notSpooled, readSpooled, removeSpooled, setAside, spoolBytes, waitingIn, type Spooled } from './spool.ts'

/** The daemon that accepts mail, with the secret to call it. */
export interface Receiver {
  readonly origin: string
  readonly token: string
  /** Name of the key, which does not reveal the key. The key decides the project of the mail. */
  readonly by: string
  /** The daemon's own token, which accepts messages of any key with a proof. */
  readonly ownToken?: string | undefined
}

/**
 * The outcome of one message. `away`: the outcome is unknown, and a retry with the same idempotency key is safe. `unauthorized`: the key is
 * wrong, not the message. `refused`: the daemon would refuse it again.
 */
export type HandedOver =
  | { readonly ending: 'taken'; readonly traceId: string }
  | { readonly ending: 'away' | 'unauthorized' | 'refused'; readonly message: string }

/** Maximum wait for a response. After that, the message goes to the spool. */
const answerMs = 30_000

/** Name of a key. `own` is the token of the data folder, which changes with each start of the daemon. */
export const keyName = (key: string | null): string => (key === null ? 'own' : keyNameOf(key))

export async function handOver({ origin, token }: Receiver, spooled: Spooled, signal?: AbortSignal): Promise<HandedOver> {
  const deadline = AbortSignal.timeout(answerMs)
  let response: Response
  try {
    response = await fetch(origin + sendmailPath, {
      method: 'POST',
      headers: { authorization: `Bearer ${token}`, 'content-type': sendmailType, 'idempotency-key': `sendmail-${spooled.head.id}` },
      body: new Uint8Array(spoolBytes(spooled)),
      signal: signal ? AbortSignal.any([signal, deadline]) : deadline,
    })
  } catch (error) {
    return { ending: 'away', message: `No daemon responds at ${origin}: ${error instanceof Error ? error.message : String(error)}.` }
  }
  return endingOf(response.status, await response.text().catch(() => ''), origin)
}

function endingOf(status: number, text: string, origin: string): HandedOver {
  const answer = jsonOf(text) as { readonly trace_id?: string; readonly error?: { readonly message?: string } } | undefined
  if (status === 200 && answer?.trace_id !== undefined) return { ending: 'taken', traceId: answer.trace_id }
  const message = answer?.error?.message
  // another server answers if a proxy hides a stopped Postern, or if the address is wrong: the message is kept in both cases
  if (message === undefined) return { ending: 'away', message: `The server at ${origin} is not Postern (status ${status}).` }
  if (status === 401 || status === 403) return { ending: 'unauthorized', message }
  const isPassing = status >= 500 || status === 408 || status === 409 || status === 429
  return { ending: isPassing ? 'away' : 'refused', message }
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

export interface Sent {
  readonly taken: number
  /** Messages moved to `failed`, each with its reason. */
  readonly refused: readonly string[]
  /** Number of messages that are still in the folder, because the daemon is not reachable or they need another key. */
  readonly left: number
  /** Why messages are still in the folder. */
  readonly reason: string | undefined
}

/** Sends spooled messages, oldest first, until the daemon is not reachable or `most` messages were processed. */
export async function sendSpool(
  folder: string,
  receiver: Receiver,
  { most = Infinity, signal }: { readonly most?: number; readonly signal?: AbortSignal } = {},
): Promise<Sent> {
  const names = await waitingIn(folder)
  let [taken, left, reason] = [0, 0, undefined as string | undefined]
  const refused: string[] = []
  /** A message that cannot be moved does not block the others. */
  const aside = async (name: string, why: string): Promise<void> => {
    try {
      await setAside(folder, name, why)
      refused.push(`${name}: ${why}`)
    } catch (error) {
      left++
      reason ??= `${name} was refused (${why}) and could not be moved to the folder failed: ${(error as Error).message}.`
    }
  }
  for (const [i, name] of names.entries()) {
    if (i >= most || signal?.aborted) return { taken, refused, left: left + names.length - i, reason }
    const spooled = await readSpooled(folder, name).catch(() => null)
    if (spooled === undefined) continue
    if (spooled === null) {
      await aside(name, notSpooled)
      continue
    }
    const isOthers = spooled.head.by !== receiver.by
    const token = isOthers ? spooled.head.proof && receiver.ownToken : receiver.token
    if (!token) {
      left++
      reason ??= 'The message belongs to another API key.'
      continue
    }
    const handed = await handOver({ ...receiver, token }, spooled, signal)
    if (handed.ending === 'taken') {
      await removeSpooled(folder, name)
      taken++
    } else if (handed.ending === 'refused') {
      await aside(name, handed.message)
    } else if (isOthers && handed.ending === 'unauthorized') {
      left++
      reason ??= handed.message
    } else return { taken, refused, left: left + names.length - i, reason: handed.message }
  }
  return { taken, refused, left, reason }
}
