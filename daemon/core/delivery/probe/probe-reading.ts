/** Summarizes the steps of a probe as reachability, TLS and sign-in. */
import type { ProbeStep } from '../transport.ts'

/** `ok` is null if the probe did not reach this step or there is nothing to check. */
export interface Aspect {
  readonly ok: boolean | null
  readonly detail: string
}

const unreached: Aspect = { ok: null, detail: 'Not reached: an earlier step failed.' }

/** Every step other than `tls` and `auth` concerns the reachability of the provider. */
export function readSteps(steps: readonly ProbeStep[]): { readonly reachability: Aspect; readonly tls: Aspect; readonly auth: Aspect } {
  const failed = steps.find(({ ok }) => !ok)
  const named = (name: string): ProbeStep | undefined => steps.find(({ step }) => step === name)
  const tls = named('tls')
  const auth = named('auth')
  const before = steps.filter(({ step }) => step !== 'tls' && step !== 'auth')
  const unreachable = before.find(({ ok }) => !ok)
  const last = before.at(-1)
  return {
    reachability: unreachable
      ? { ok: false, detail: unreachable.detail }
      : { ok: steps.length > 0, detail: last?.detail ?? 'The host responded.' },
    tls: tls ? aspect(tls) : failed ? unreached : { ok: null, detail: 'The connection is not encrypted.' },
    auth: auth ? aspect(auth) : failed ? unreached : { ok: null, detail: 'No credentials are configured.' },
  }
}

const aspect = ({ ok, detail }: ProbeStep): Aspect => ({ ok, detail })
