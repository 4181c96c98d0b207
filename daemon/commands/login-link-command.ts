/** `postern login-link`: creates a sign-in link, through the running daemon or in the store of a stopped one. */
import { pagesUrl, type Config } from '#config/settings/load.ts'
import { addressProblem } from '#config/mail/address-problem.ts'
import { parseExactAddress } from '#core/addresses.ts'
import { systemClock } from '#core/clock.ts'
import { operatorLink } from '#core/people/sign-in/operator-link.ts'
import { Refusal } from '#core/refusals.ts'
import { Database } from '#store/database.ts'
import { operatorLinkPath } from '../../admin-api/operator/operator-link.ts'
import { exitCodes, type ExitCode } from '../process/lifecycle.ts'
import { openStore, requireStore } from '../open-store.ts'
import { withoutMessage } from './daemon-client.ts'
import { runningDaemon, type OperatorAccess } from '../process/operator-file.ts'
import { StartRefused } from '../process/start-refused.ts'

/** The address to sign in with, and the page of the service that the sign-in leads to. */
interface LinkArguments {
  readonly email: string
  readonly next: string | undefined
}

/** Prints the link. Throws `StartRefused` if there is no data folder or the address is invalid. */
export async function loginLink(config: Config, { email, next }: LinkArguments, out: { write(text: string): unknown }): Promise<ExitCode> {
  if (!parseExactAddress(email)) {
    const problem = addressProblem(email)
    const usage = `login-link needs a mail address such as ada@example.com; got ${JSON.stringify(email)}.`
    throw new StartRefused(problem === undefined ? usage : `${usage} The address ${problem}.`, exitCodes.usage)
  }
  const access = await runningDaemon(config.dataDir)
  const made = access && (await askDaemon(access, { email, next }))
  const url = made ?? (await fromStore(config, { email, next }))
  const first = made === undefined ? ' No daemon runs on this data folder. Start it before you open the link.' : ''
  out.write(`${url}\n\nIt works once, within 15 minutes.${first}\n`)
  return exitCodes.ok
}

/** Returns undefined if the daemon has ended without removing its operator file. */
async function askDaemon({ origin, token }: OperatorAccess, link: LinkArguments): Promise<string | undefined> {
  const response = await fetch(origin + operatorLinkPath, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    body: JSON.stringify(link),
  }).catch(() => undefined)
  if (!response) return undefined
  const answer = (await response.json()) as { readonly url?: string; readonly error?: { readonly message: string } }
  if (answer.url !== undefined) return answer.url
  throw new StartRefused(answer.error?.message ?? withoutMessage(response.status), exitCodes.failed)
}

async function fromStore(config: Config, { email, next }: LinkArguments): Promise<string> {
  await requireStore(config)
  await using kv = await openStore(config)
  try {
    return pagesUrl(config, config.http.listen) + (await operatorLink(new Database(kv), systemClock, email, next))
  } catch (error) {
    if (error instanceof Refusal) throw new StartRefused(error.message, exitCodes.failed, { cause: error })
    throw error
  }
}
