/** Tests a connection for users: runs all steps of a delivery except the message. */
import type { ProbeStep, SmtpTarget } from '#core/delivery/transport.ts'
import { asFailure, type Phase } from '../attempt-failure.ts'
import type { HandshakeOptions } from './connection/handshake.ts'
import { openLink } from './connection/handshake.ts'

const stepNames: Readonly<Partial<Record<Phase, string>>> = { dns: 'resolve', ehlo: 'greeting' }

/** Runs resolve, connect, greeting, TLS and AUTH until a step fails. The result contains no secret. */
export async function probeTarget(
  target: SmtpTarget,
  options: HandshakeOptions,
  signal: AbortSignal,
  seen: (step: ProbeStep) => void = () => undefined,
): Promise<readonly ProbeStep[]> {
  const steps: ProbeStep[] = []
  const { clock, deadlines } = options
  let since = clock.monotonic()
  const note = (phase: string, ok: boolean, detail: string, more: Partial<ProbeStep> = {}): void => {
    const now = clock.monotonic()
    const step = { step: phase, ok, detail, milliseconds: now - since, ...more }
    steps.push(step)
    seen(step)
    since = now
  }
  const onStep = (phase: Phase, detail: string): void => {
    if (phase !== 'ehlo') note(stepNames[phase] ?? phase, true, detail)
  }
  try {
    const { link } = await openLink(target, { ...options, onStep }, signal)
    if (!target.username) note('auth', true, 'No user name is configured.')
    const reply = await link.ask('NOOP\r\n', deadlines.command, 'command_timeout', 'mail')
    note('ready', reply.code === 250, `The host answered ${reply.code}.`)
    link.onBroken = undefined
    link.quit(deadlines.goodbye)
  } catch (error) {
    const failure = asFailure(error, 'connect')
    const { code, phase, reply, certificateNames } = failure
    note(phase === 'mail' ? 'ready' : (stepNames[phase] ?? phase), false, failure.message, {
      code,
      ...(reply && { reply: `${reply.code} ${reply.text}` }),
      ...(certificateNames && { certificateNames }),
    })
  }
  return steps
}
