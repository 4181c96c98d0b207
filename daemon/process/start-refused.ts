/** Reason why a command cannot continue, in one sentence with the next step. */
import type { ExitCode } from './lifecycle.ts'

/** A problem outside the program. The message is shown without a stack, and the process ends with `exitCode`. */
export class StartRefused extends Error {
  override readonly name = 'StartRefused'
  readonly exitCode: ExitCode

  constructor(message: string, exitCode: ExitCode, options: { readonly cause?: unknown } = {}) {
    super(message, options)
    this.exitCode = exitCode
  }
}
