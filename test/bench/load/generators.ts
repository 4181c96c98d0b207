/** Starts a load generator and waits for its result. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import type { AttackJob, AttackResult, LoadResult, RestJob, SmtpJob, StormJob, StormResult } from './load-job.ts'

export const loadBySmtp = (job: SmtpJob): Promise<LoadResult> => generate(new URL('load-smtp.ts', import.meta.url), job)
export const loadByRest = (job: RestJob): Promise<LoadResult> => generate(new URL('load-rest.ts', import.meta.url), job)

/** Starts a storm of handshakes that runs until it is stopped. */
export const beginStorm = (job: StormJob): Promise<Endless<StormResult>> => begin(new URL('load-handshakes.ts', import.meta.url), job)

/** Starts an attack that runs until it is stopped. */
export const beginAttack = (job: AttackJob): Promise<Endless<AttackResult>> => begin(new URL('load-attack.ts', import.meta.url), job)

interface Endless<Result> extends AsyncDisposable {
  end(): Promise<Result>
}

async function begin<Result>(script: URL, job: StormJob | AttackJob): Promise<Endless<Result>> {
  const child = spawn(process.execPath, [fileURLToPath(script), JSON.stringify(job)], { stdio: ['ignore', 'pipe', 'inherit'] })
  let output = ''
  child.stdout.on('data', (chunk: Buffer) => (output += chunk.toString()))
  const closed = once(child, 'close')
  await once(child.stdout, 'data')
  return {
    async end() {
      child.kill('SIGTERM')
      await closed
      return JSON.parse(output) as Result
    },
    async [Symbol.asyncDispose]() {
      child.kill('SIGKILL')
      await closed
    },
  }
}

/** Returns the result. Throws if more than 1% of the transactions failed, because the measurement is invalid then. */
async function generate(script: URL, job: SmtpJob | RestJob): Promise<LoadResult> {
  const child = spawn(process.execPath, [fileURLToPath(script), JSON.stringify(job)], { stdio: ['ignore', 'pipe', 'inherit'] })
  const end = (): void => void child.kill('SIGKILL')
  process.once('exit', end)
  let output = ''
  for await (const chunk of child.stdout) output += String(chunk)
  process.off('exit', end)
  const result = JSON.parse(output) as LoadResult
  if (result.failures * 100 > result.acknowledged)
    throw new Error(`${String(result.failures)} failures under load, the first: ${result.firstFailure}`)
  return result
}
