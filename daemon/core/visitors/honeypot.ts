/** The field of a form that people do not see and programs fill in. */

export const honeypot = 'website_url'

/** Out of sight, out of the order of the Tab key, and silent to screen readers. */
export const honeypotHtml = `<div aria-hidden="true" style="position: absolute; left: -10000px">
    <label>Leave this empty <input name="${honeypot}" tabindex="-1" autocomplete="off" /></label>
  </div>`
