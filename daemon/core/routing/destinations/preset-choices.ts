/** Presets to choose from: which one hosts the mailboxes of a domain, and which ones this service does not allow. */
import { isIP } from 'node:net'
import { presetOfExchange } from '#config/mail/preset-exchanges.ts'
import { findPreset, presetIds, type SmtpPreset } from '#config/mail/presets.ts'
import { parseDomain } from '../../addresses.ts'
import type { Clock } from '../../clock.ts'
import { permission, type AddressGuard } from '../../outbound/address-guard.ts'
import { ResolveError, type RecordResolver } from '../../outbound/resolver.ts'
import { invalid } from '../../refusals.ts'

export interface PresetChoice extends SmtpPreset {
  /** True if the MX records of the domain lead to this provider. */
  readonly isSuggested: boolean
  /** Setting that the preset needs, because its host is an address that this service does not allow; null if it needs none. */
  readonly neededSetting: string | null
}

export interface PresetChoicesOptions {
  readonly guard: AddressGuard
  readonly resolver: Pick<RecordResolver, 'resolveMx'>
  readonly clock: Clock
}

/** Maximum wait for the MX records. Without an answer, no preset is suggested. */
const lookUpMs = 2000

export class PresetChoices {
  readonly #options: PresetChoicesOptions

  constructor(options: PresetChoicesOptions) {
    this.#options = options
  }

  /** Returns all presets. With a domain, marks the preset of its MX records. Throws `validation_failed` for an invalid domain. */
  async list(domain?: string): Promise<readonly PresetChoice[]> {
    const parsed = domain === undefined ? undefined : parseDomain(domain)
    if (domain !== undefined && parsed === undefined)
      throw invalid([{ path: 'domain', message: 'must be a domain name, such as example.ch' }])
    const suggested = parsed === undefined ? undefined : await this.#presetOf(parsed)
    return presetIds.flatMap((id) => {
      const preset = findPreset(id)
      return preset ? [{ ...preset, isSuggested: id === suggested, neededSetting: this.#neededSetting(preset) }] : []
    })
  }

  #neededSetting({ host, port }: SmtpPreset): string | null {
    return isIP(host) === 0 || this.#options.guard(host, port) ? null : permission('destinations', host, port)
  }

  async #presetOf(domain: string): Promise<string | undefined> {
    const { resolver, clock } = this.#options
    const late = Promise.withResolvers<undefined>()
    const timer = clock.after(lookUpMs, () => late.resolve(undefined))
    try {
      const exchanges = await Promise.race([resolver.resolveMx(domain), late.promise])
      return exchanges
        ?.toSorted((a, b) => a.priority - b.priority)
        .map(({ exchange }) => presetOfExchange(exchange))
        .find((id) => id !== undefined)
    } catch (error) {
      if (error instanceof ResolveError) return undefined
      throw error
    } finally {
      timer.cancel()
    }
  }
}
