/** Checks services outside whose failures only this daemon sees: captcha providers and the OpenTelemetry collector. */
import type { Clock } from '#core/clock.ts'
import { ofService, type Check } from '#core/doctor/check.ts'
import { captchaFindings, collectorFindings } from '#core/doctor/dependency-findings.ts'
import type { Captchas } from '#core/visitors/captcha.ts'
import type { SpanExport } from '../observability/tracing/span-export.ts'

export interface DependencyCheckOptions {
  readonly clock: Clock
  /** Subject of the findings: a name of this daemon that persists over restarts; empty for the only daemon at the store. */
  readonly daemonName: string
  readonly captchas: Pick<Captchas, 'outages'>
  /** Undefined without a collector. */
  readonly spanExport: Pick<SpanExport, 'failingSince'> | undefined
}

export function dependencyCheck({ clock, daemonName, captchas, spanExport }: DependencyCheckOptions): Check {
  return {
    name: 'dependencies',
    everyMs: 60_000,
    place: 'every',
    isOwn: true,
    needsNoStore: true,
    async look() {
      const now = clock.now()
      const found = [...captchaFindings(captchas.outages, daemonName, now), ...collectorFindings(spanExport?.failingSince, now)]
      return ofService(found, daemonName)
    },
  }
}
