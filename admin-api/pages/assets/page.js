/* Passkeys through the browser’s WebAuthn interface (Level 3), and buttons that copy. Without them, or without this script, all else works. */
const supported = globalThis.PublicKeyCredential?.parseRequestOptionsFromJSON !== undefined

for (const form of supported ? document.querySelectorAll('form[data-passkey]') : []) {
  form.hidden = false
  const fault = form.querySelector('[data-fault]')
  let stop = new AbortController()
  let running = Promise.resolve()

  const run = async (mediation) => {
    stop.abort()
    stop = new AbortController()
    const { signal } = stop
    await running // a browser allows one request at a time
    running = ask(form, mediation, signal).then(
      (credential) => {
        form.elements.namedItem('response').value = JSON.stringify(credential.toJSON())
        form.submit()
      },
      () => {
        if (mediation === 'conditional' || signal.aborted) return
        fault.textContent = form.dataset.fault
        fault.hidden = false
      },
    )
  }

  form.addEventListener('submit', (event) => {
    event.preventDefault()
    void run('optional')
  })
  void PublicKeyCredential.isConditionalMediationAvailable?.().then((available) => available && run('conditional'))
}

function ask(form, mediation, signal) {
  const publicKey = PublicKeyCredential.parseRequestOptionsFromJSON(JSON.parse(form.dataset.options))
  return navigator.credentials.get({ publicKey, mediation, signal })
}

for (const button of document.querySelectorAll('button[data-copy]')) {
  button.hidden = false
  button.addEventListener('click', () => {
    void navigator.clipboard.writeText(button.dataset.copy).then(() => {
      button.querySelector('[role=status]').textContent = button.dataset.done
    })
  })
}
