/** `postern send`: one message through a running daemon, by the same REST call as everybody's. */
import { text as textOf } from 'node:stream/consumers'
import type { Config } from '#config/settings/load.ts'
import { cleanJson } from '../observability/clean-text.ts'
import type { SendWords } from './command-line.ts'
import { chosenDaemon, postToDaemon } from './daemon-client.ts'
import { exitCodes, type ExitCode } from '../process/lifecycle.ts'

interface Surroundings {
  readonly env: NodeJS.ProcessEnv
  readonly stdin: NodeJS.ReadableStream & { readonly isTTY?: boolean }
  readonly stdout: { write(text: string): unknown }
  readonly stderr: { write(text: string): unknown }
}

/** Prints outcome and trace. Throws `StartRefused` with the daemon's words when it refuses. */
export async function send(config: Config, words: SendWords, { env, stdin, stdout, stderr }: Surroundings): Promise<ExitCode> {
  const { from, to, subject, html, asJson } = words
  const access = await chosenDaemon(config, words, env)
  if (words.text === '-' && stdin.isTTY === true) stderr.write('Write the text and end it with Ctrl-D.\n')
  const text = words.text === '-' ? await textOf(stdin) : words.text
  const body = { from, to, subject, ...(text !== '' && { text }), ...(html !== undefined && { html }) }
  const answer = (await postToDaemon(access, '/v1/messages', body)) as { readonly trace_id: string; readonly outcome: string }
  stdout.write(asJson ? `${cleanJson(JSON.stringify(answer))}\n` : `${answer.outcome}\ntrace ${answer.trace_id}\n`)
  return exitCodes.ok
}
