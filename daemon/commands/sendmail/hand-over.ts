/** One message to the daemon, and its outcome; and all that waits in a spool. */
import { keyNameOf } from '#core/access/keys/key-proof.ts'
import { sendmailPath, sendmailType } from '../../../admin-api/operator/sendmail-address.ts'
import { readSpooled, removeSpooled, setAside, spoolBytes, waitingIn, type Spooled } from './spool.ts'

/** The daemon that mail is handed to, and with which secret. */
export interface Receiver {
  readonly origin: string
  readonly token: string
  /** Says with which key, without telling it: the project that mail belongs to hangs on it. */
  readonly by: string
  /** Of the daemon itself, which takes messages of every key that is proved. */
  readonly ownToken?: string | undefined
}

/**
 * The outcome of one message. `away`: nothing is known, and it may be sent again under the same key. `unauthorized`: the key is wrong, not
 * the message. `refused`: it would be refused again.
 */
export type HandedOver =
  | { readonly ending: 'taken'; readonly traceId: string }
  | { readonly ending: 'away' | 'unauthorized' | 'refused'; readonly message: string }

/** Longer than this no script waits; the message goes to the spool then. */
const answerMs = 30_000

/** `own`: the token of the data folder, which is another one with each start of the daemon. */
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
    return { ending: 'away', message: `No daemon answers at ${origin}: ${error instanceof Error ? error.message : String(error)}.` }
  }
  return endingOf(response.status, await response.text().catch(() => ''), origin)
}

function endingOf(status: number, text: string, origin: string): HandedOver {
  const answer = jsonOf(text) as { readonly trace_id?: string; readonly error?: { readonly message?: string } } | undefined
  if (status === 200 && answer?.trace_id !== undefined) return { ending: 'taken', traceId: answer.trace_id }
  const message = answer?.error?.message
  // what is no Postern is a proxy in front of one that is away, or a wrong address: the message stays either way
  if (message === undefined) return { ending: 'away', message: `What answers at ${origin} is no Postern (${status}).` }
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
  /** Set aside, each with its reason. */
  readonly refused: readonly string[]
  /** Still there: the daemon is away, or they belong to another key. */
  readonly left: number
  /** Why something is still there. */
  readonly reason: string | undefined
}

/** Sends what waits, oldest first, until the daemon is away or so many were looked at. */
export async function sendSpool(
  folder: string,
  receiver: Receiver,
  { most = Infinity, signal }: { readonly most?: number; readonly signal?: AbortSignal } = {},
): Promise<Sent> {
  const names = await waitingIn(folder)
  let [taken, left, reason] = [0, 0, undefined as string | undefined]
  const refused: string[] = []
  /** One that cannot be moved keeps no other from being sent. */
  const aside = async (name: string, why: string): Promise<void> => {
    try {
      await setAside(folder, name, why)
      refused.push(`${name}: ${why}`)
    } catch (error) {
      left++
      reason ??= `${name} is refused (${why}), and cannot be set aside: ${(error as Error).message}.`
    }
  }
  for (const [i, name] of names.entries()) {
    if (i >= most || signal?.aborted) return { taken, refused, left: left + names.length - i, reason }
    const spooled = await readSpooled(folder, name).catch(() => null)
    if (spooled === undefined) continue
    if (spooled === null) {
      await aside(name, 'This is no message of postern sendmail.')
      continue
    }
    const isOthers = spooled.head.by !== receiver.by
    const token = isOthers ? spooled.head.proof && receiver.ownToken : receiver.token
    if (!token) {
      left++
      reason ??= 'It was given with another key.'
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
