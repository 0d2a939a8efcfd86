"""The report: what runs found, beside what others published, on one page that stands alone."""

from sectioncls.report.export import write_figures
from sectioncls.report.page import report_html, write_report
from sectioncls.report.summary import summarize
from sectioncls.report.views import Summary

__all__ = ["Summary", "report_html", "summarize", "write_figures", "write_report"]
