/** Sends a form in the background, so that a failure does not lose the answers. */
import { fillTimeKey } from '#core/forms/definition/definition.ts'
import { otherOf } from '../scripts/other-answers.ts'
import { sizeIn } from '../scripts/sizes.ts'
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
  readonly #stop: HTMLButtonElement
  #isBusy = false

  constructor(state: FormState) {
    this.#state = state
    this.#button = first(state.form, '.actions button[type=submit]')
    this.#label = this.#button?.textContent ?? ''
    this.#line.setAttribute('role', 'status')
    this.#stop = element('button', 'quiet', state.plan.texts.stop)
    this.#stop.type = 'button'
    this.#stop.hidden = true
    this.#button?.parentElement?.after(this.#line, this.#stop)
  }

  get isBusy(): boolean {
    return this.#isBusy
  }

  /**
   * Returns null if the connection failed. An expired token is replaced and the form is sent once more, unless a newer version of the form
   * exists.
   */
  async send(visible: ReadonlySet<string>): Promise<SentForm | null> {
    this.#draw(true)
    const sent = await this.#post(visible)
    const { fill_time_token: token, version } = (sent && 'error' in sent && sent.error.details) || {}
    if (!token || version) return sent
    const input = first<HTMLInputElement>(this.#state.form, `input[name="${fillTimeKey}"]`)
    if (input) input.value = token
    return this.#post(visible)
  }

  /** Makes the form editable again. */
  end(): void {
    this.#draw(false)
    const { turnstile, hcaptcha } = globalThis as Captchas
    if (!first(this.#state.form, '.captcha')) return
    turnstile?.reset()
    hcaptcha?.reset()
  }

  /** Omits fields that are not visible. */
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

  #post(visible: ReadonlySet<string>): Promise<SentForm | null> {
    const { address, plan } = this.#state
    const data = this.#data(visible)
    return new Promise((resolve) => {
      const request = new XMLHttpRequest()
      request.open('POST', address)
      request.setRequestHeader('Accept', 'application/json')
      request.responseType = 'json'
      request.timeout = deadlineMs
      const hasFiles = [...data.values()].some((value) => typeof value !== 'string' && value.name !== '')
      if (hasFiles)
        request.upload.addEventListener('progress', ({ loaded, total }) => {
          const [share, size] = [Math.floor((loaded / total) * 100), sizeIn(plan.texts.locale, total)]
          this.#line.textContent = `${plan.texts.keepOpen} ${filled(plan.texts.sentShare, { share, size })}`
          // the upload is complete, so it can no longer be stopped
          this.#stop.hidden = loaded === total
        })
      this.#stop.onclick = () => request.abort()
      request.onabort = () => resolve({ error: { code: 'stopped', message: plan.texts.stopped } })
      // an empty response means that the connection failed
      for (const end of ['load', 'error', 'timeout']) request.addEventListener(end, () => resolve(request.response as SentForm | null))
      request.send(data)
    })
  }

  #draw(isBusy: boolean): void {
    const { form, plan } = this.#state
    this.#isBusy = isBusy
    this.#stop.hidden = true
    form.ariaBusy = isBusy ? 'true' : null
    this.#line.textContent = isBusy ? plan.texts.keepOpen : ''
    if (!this.#button) return
    this.#button.ariaDisabled = isBusy ? 'true' : null
    this.#button.classList.toggle('sending', isBusy)
    this.#button.textContent = isBusy ? plan.texts.sending : this.#label
  }
}
