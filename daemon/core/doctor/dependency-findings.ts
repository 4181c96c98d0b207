/** Findings about services outside that only the memory of a daemon knows to fail. Pure. */
import { observed, type Observed } from '../findings/finding.ts'
import type { CaptchaOutage } from '../visitors/captcha.ts'

const minute = 60_000
const hour = 60 * minute

/** Fewer failures can be a single slow answer. */
const fewestFailures = 3
/** After this time without a verification, the state of the provider is unknown. */
const currentMs = hour
/** An export is repeated within a few seconds; a collector that restarts is not reported. */
const restartMs = 5 * minute

/** `daemonName`: added to the subject, because each daemon has its own state; empty for the only daemon. */
export function captchaFindings(outages: readonly CaptchaOutage[], daemonName: string, now: number): Observed[] {
  return outages
    .filter(({ count, latestAt }) => count >= fewestFailures && now - latestAt <= currentMs)
    .map(({ provider, since, count }) =>
      observed('captcha.unreachable', daemonName === '' ? provider : `${provider}/${daemonName}`, { provider, sinceAt: since, count }),
    )
}

export const collectorFindings = (failingSince: number | undefined, now: number): Observed[] =>
  failingSince === undefined || now - failingSince < restartMs ? [] : [observed('spans.not_exported', '', { sinceAt: failingSince })]
