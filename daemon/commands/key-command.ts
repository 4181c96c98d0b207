/** `postern key create`: creates an API key through the REST API. */
import type { Config } from '#config/settings/load.ts'
import { cleanJson } from '../observability/clean-text.ts'
import type { DaemonChoice } from './command-line.ts'
import { chosenDaemon, postToDaemon } from './daemon-client.ts'
import type { KeyArguments } from './key-arguments.ts'
import { exitCodes, type ExitCode } from '../process/lifecycle.ts'

/** Prints only the key, so that scripts can read it. Throws `StartRefused` with the daemon's message. */
export async function createKey(
  config: Config,
  args: DaemonChoice & KeyArguments,
  { env, stdout }: { readonly env: NodeJS.ProcessEnv; readonly stdout: { write(text: string): unknown } },
): Promise<ExitCode> {
  const { label, fields, asJson } = args
  const access = await chosenDaemon(config, args, env)
  const answer = (await postToDaemon(access, '/v1/api-keys', { name: label, ...fields })) as { readonly key: string }
  stdout.write(asJson ? `${cleanJson(JSON.stringify(answer))}\n` : `${answer.key}\n`)
  return exitCodes.ok
}
