/** Sends as they come from programs, and from web pages. */
function sending(parts: RestParts, sendMessages: SendMessages): Pick<RestCore, 'sendMessages' | 'publishable'> {
  const { keys, snippets, captcha } = parts.publishable
  return { sendMessages, publishable: { keys, snippets, sends: new PageSends({ ...parts, ...captcha, keys, sendMessages }) } }
}
