/** A hidden form field, which people do not see and bots fill in. */

export const honeypot = 'website_url'

/** Hidden from view, keyboard focus and screen readers. */
export const honeypotHtml = `<div aria-hidden="true" style="position: absolute; left: -10000px">
    <label>Leave this empty <input name="${honeypot}" tabindex="-1" autocomplete="off" /></label>
  </div>`
