/** `postern queue holds`, `hold --standing` and `release --hold`: standing holds, which also hold new messages. */
import { cleanJson, cleanText } from '../../observability/clean-text.ts'
import { exitCodes, type ExitCode } from '../../process/lifecycle.ts'
import { callDaemon, postToDaemon } from '../daemon-client.ts'
import { table } from '../operator/text-table.ts'
import { followed, outcome, type Access, type Act } from './queue-act.ts'
import type { QueueArguments } from './queue-arguments.ts'

interface Hold {
  readonly id: string
  readonly filter: Readonly<Record<string, string | null>>
  readonly reason: string | null
  readonly set_by: string
  readonly act_id: string
  readonly created_at: string
}

type Out = { write(text: string): unknown }

export async function listHolds(access: Access, path: string, { asJson }: QueueArguments, out: Out): Promise<ExitCode> {
  const { data } = (await (await callDaemon(access, 'GET', `${path}/holds?limit=200`)).json()) as { readonly data: readonly Hold[] }
  if (asJson) out.write(`${cleanJson(JSON.stringify({ data }))}\n`)
  else out.write(data.length === 0 ? 'No standing holds.\n' : table(['HOLD', 'SINCE', 'BY', 'MESSAGES', 'REASON'], data.map(rowOf)))
  return exitCodes.ok
}

const rowOf = ({ id, created_at: since, set_by: by, filter, reason }: Hold): readonly unknown[] => {
  const given = Object.entries(filter).flatMap(([name, value]) => (value === null ? [] : [`${name}=${value}`]))
  return [id, since, by, given.length === 0 ? 'all' : given.join(' '), cleanText(reason ?? '')]
}

/** Sets or releases a standing hold and waits for the action on queued messages. */
export async function stand(
  access: Access,
  path: string,
  { verb, hold, filter, reason, asJson }: QueueArguments,
  out: Out,
): Promise<ExitCode> {
  if (hold !== undefined) {
    const act = await followed(access, path, (await postToDaemon(access, `${path}/holds/${encodeURIComponent(hold)}/release`, {})) as Act)
    out.write(asJson ? `${cleanJson(JSON.stringify(act))}\n` : outcome(verb, act))
    return act.status === 'finished' ? exitCodes.ok : exitCodes.failed
  }
  const made = (await postToDaemon(access, `${path}/holds`, { filter, ...(reason !== undefined && { reason }) })) as Hold
  const act = await followed(access, path, (await (await callDaemon(access, 'GET', `${path}/acts/${made.act_id}`)).json()) as Act)
  if (asJson) out.write(`${cleanJson(JSON.stringify(made))}\n`)
  else
    out.write(
      `${outcome(verb, act)}The standing hold ${made.id} also holds new messages. To release it: postern queue release --hold ${made.id} --yes\n`,
    )
  return act.status === 'finished' ? exitCodes.ok : exitCodes.failed
}
