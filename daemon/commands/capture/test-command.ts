/** The test command of a run, such as `npm test`. Variables give it the addresses, and its exit code becomes that of the run. */
import { spawn, type ChildProcess } from 'node:child_process'
import { constants } from 'node:os'
import { apiKeyVariable, daemonUrlVariable, inboxVariable } from '#config/settings/environment.ts'
import type { CaptureAccess } from './instance.ts'

/** Variables in the environment of the command. */
export const variablesOf = ({ smtp, http, api_key, inbox_id }: CaptureAccess): Readonly<Record<string, string>> => ({
  SMTP_HOST: smtp.host,
  SMTP_PORT: String(smtp.port),
  SMTP_USERNAME: smtp.username,
  SMTP_PASSWORD: smtp.password,
  SMTP_URL: `smtp://${smtp.username}:${smtp.password}@${smtp.host}:${smtp.port}`,
  [daemonUrlVariable]: http,
  [apiKeyVariable]: api_key,
  [inboxVariable]: inbox_id,
})

/** The exit code of shells for a command that does not exist. */
const notFound = 127
const notRunnable = 126
/** Time between SIGTERM and SIGKILL. */
const killMs = 10_000

export interface RunningCommand {
  /** Resolves with the exit code, or with 128 plus the number of the signal that ended the command. */
  readonly ended: Promise<number>
  /** Passes a signal on. The command has 10 seconds to end. */
  signal(name: NodeJS.Signals): void
}

/** Runs the command without a shell. Calls `explain` with one sentence if it cannot be run. */
export function runTestCommand(args: readonly string[], access: CaptureAccess, explain: (sentence: string) => void): RunningCommand {
  const [command = '', ...rest] = args
  const child = spawn(command, rest, { stdio: 'inherit', env: { ...process.env, ...variablesOf(access) } })
  const { promise: ended, resolve } = Promise.withResolvers<number>()
  child.once('error', (error: NodeJS.ErrnoException) => {
    explain(`${command} cannot be run (${error.code ?? error.message}).`)
    resolve(error.code === 'ENOENT' ? notFound : notRunnable)
  })
  child.once('exit', (code, signal) => resolve(code ?? 128 + (signal ? constants.signals[signal] : 0)))
  return { ended, signal: (name) => end(child, name) }
}

function end(child: ChildProcess, name: NodeJS.Signals): void {
  child.kill(name)
  const timer = setTimeout(() => child.kill('SIGKILL'), killMs)
  child.once('exit', () => clearTimeout(timer))
}
