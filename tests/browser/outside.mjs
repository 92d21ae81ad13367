// A script, which the provider and the receiver of admin.py send wherever a response has text.
export const { script: SCRIPT } = JSON.parse(process.env.COFFER_TEST);
