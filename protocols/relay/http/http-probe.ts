/** Tests a connection for users: runs all steps of a delivery, with a request that checks the credentials and sends no mail. */
import type { Clock } from '#core/clock.ts'
import type { HttpTarget, ProbeStep } from '#core/delivery/transport.ts'
import { Failure, type Phase } from '../attempt-failure.ts'
import { verdictByStatus } from './contract/answers.ts'
import { shown, vendorContext } from './http-attempt.ts'
import { callVendor, type CallOptions } from './vendor-call.ts'
import { VendorRefusal, type Vendor, type VendorAnswer, type VendorVerdict } from './contract/vendor.ts'

const stepNames: Readonly<Partial<Record<Phase, string>>> = { dns: 'resolve', body: 'auth', final: 'auth' }
const nameOf = (phase: Phase): string => stepNames[phase] ?? phase

/** Runs resolve, connect, TLS and auth until a step fails. The result contains no secret. */
export class ProbeWalk {
  readonly #target: HttpTarget
  readonly #clock: Clock
  readonly #steps: ProbeStep[] = []
  readonly #seen: (step: ProbeStep) => void
  #since: number

  constructor(target: HttpTarget, clock: Clock, seen: (step: ProbeStep) => void = () => undefined) {
    this.#target = target
    this.#clock = clock
    this.#seen = seen
    this.#since = clock.monotonic()
  }

  /** Called after a successful step of opening a connection. */
  readonly passed = (phase: Phase, detail: string, milliseconds: number): void => {
    this.#since = this.#clock.monotonic()
    this.#add({ step: nameOf(phase), ok: true, detail, milliseconds })
  }

  async through(vendor: Vendor, options: Omit<CallOptions, 'beforeLastByte'>): Promise<readonly ProbeStep[]> {
    try {
      const context = vendorContext(this.#target, this.#clock, (asked) => callVendor(asked, options))
      const { answer, failure } = await callVendor(await vendor.probe(this.#target.credentials, context), options)
      if (answer) this.#noteAnswer(vendor, answer)
      else if (failure) throw failure
    } catch (error) {
      if (error instanceof Failure) this.#note(error.phase, false, error.message, error.code)
      else if (error instanceof VendorRefusal) this.#note('auth', false, error.verdict.message)
      else throw error
    }
    return this.#steps
  }

  #noteAnswer(vendor: Vendor, answer: VendorAnswer): void {
    const isGood = answer.status >= 200 && answer.status < 300
    const verdict: VendorVerdict = vendor.readProbe?.(answer) ?? (isGood ? { kind: 'accepted' } : verdictByStatus(answer))
    if (verdict.kind === 'accepted') this.#note('auth', true, `${vendor.title} accepts the credentials.`)
    else this.#note('auth', false, `${vendor.title} answered ${answer.status}: ${verdict.message}`)
  }

  #note(phase: Phase, ok: boolean, detail: string, code?: string): void {
    const milliseconds = this.#clock.monotonic() - this.#since
    const step = { step: nameOf(phase), ok, detail: shown(detail, this.#target.secrets), milliseconds }
    this.#add({ ...step, ...(code !== undefined && { code }) })
  }

  #add(step: ProbeStep): void {
    this.#steps.push(step)
    this.#seen(step)
  }
}
