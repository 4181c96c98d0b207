/** Sends a form in the background, so that nothing that was typed is lost whatever comes of it. */
import { fillTimeKey } from '#core/forms/definition/definition.ts'
import { otherOf } from '../scripts/other-answers.ts'
import type { SentForm } from '../scripts/plan-types.ts'
import { element, filled, first } from './dom.ts'
import type { FormState } from './form-state.ts'

export interface Captchas {
  readonly turnstile?: { reset(): void }
  readonly hcaptcha?: { reset(): void }
}

const deadlineMs = 120_000

export class Sending {
  readonly #state: FormState
  readonly #button: HTMLElement | undefined
  readonly #label: string
  readonly #line = element('p', 'note sending-line')
  #isBusy = false

  constructor(state: FormState) {
    this.#state = state
    this.#button = first(state.form, '.actions button[type=submit]')
    this.#label = this.#button?.textContent ?? ''
    this.#line.setAttribute('role', 'status')
    this.#button?.parentElement?.after(this.#line)
  }

  get isBusy(): boolean {
    return this.#isBusy
  }

  /**
   * Undefined where there was no connection. A token that was too old is replaced, and the form sent once more, unless there is another
   * version of it by now.
   */
  async send(visible: ReadonlySet<string>): Promise<SentForm | undefined> {
    this.#draw(true)
    try {
      const sent = await this.#post(visible)
      const { fill_time_token: token, version } = (sent && 'error' in sent ? sent.error.details : undefined) ?? {}
      if (token === undefined || version) return sent
      const input = first<HTMLInputElement>(this.#state.form, `input[name="${fillTimeKey}"]`)
      if (input) input.value = token
      return await this.#post(visible)
    } catch {
      return undefined
    }
  }

  /** The form is there to be filled in again. */
  end(): void {
    this.#draw(false)
    const { turnstile, hcaptcha } = globalThis as Captchas
    if (!first(this.#state.form, '.captcha')) return
    turnstile?.reset()
    hcaptcha?.reset()
  }

  /** What is not asked is not sent. */
  #data(visible: ReadonlySet<string>): FormData {
    const { form, plan } = this.#state
    const data = new FormData(form)
    for (const { key } of plan.schema.fields)
      if (!visible.has(key)) {
        data.delete(key)
        data.delete(otherOf(key))
      }
    return data
  }

  #post(visible: ReadonlySet<string>): Promise<SentForm | undefined> {
    const { address, plan } = this.#state
    const data = this.#data(visible)
    return new Promise((resolve, reject) => {
      const request = new XMLHttpRequest()
      request.open('POST', address)
      request.setRequestHeader('Accept', 'application/json')
      request.responseType = 'json'
      request.timeout = deadlineMs
      const hasFiles = [...data.values()].some((value) => typeof value !== 'string' && value.name !== '')
      const percent = new Intl.NumberFormat(plan.words.locale, { maximumFractionDigits: 1 })
      if (hasFiles)
        request.upload.addEventListener('progress', ({ loaded, total }) => {
          const [share, size] = [Math.floor((loaded / total) * 100), `${percent.format(total / 1_048_576)} MB`]
          this.#line.textContent = `${plan.words.keepOpen} ${filled(plan.words.sentShare, { share, size })}`
        })
      request.addEventListener('load', () => resolve((request.response as SentForm | null) ?? undefined))
      for (const failure of ['error', 'timeout', 'abort']) request.addEventListener(failure, () => reject(new Error(failure)))
      request.send(data)
    })
  }

  #draw(isBusy: boolean): void {
    const { form, plan } = this.#state
    this.#isBusy = isBusy
    form.ariaBusy = isBusy ? 'true' : null
    this.#line.textContent = isBusy ? plan.words.keepOpen : ''
    if (!this.#button) return
    this.#button.ariaDisabled = isBusy ? 'true' : null
    this.#button.classList.toggle('sending', isBusy)
    this.#button.textContent = isBusy ? plan.words.sending : this.#label
  }
}
